// The data of the run, and the places of its lines. A row is a line of the trace with the server's
// changes that belong to it, a fold of several lines, or a gap in time.

const run = JSON.parse(document.getElementById("run").textContent);
const last = run.lines.length; // steps count from 1; last + 1 is the end
const lineAt = (step) => run.lines[step - 1];

const verdictSteps = new Set(run.verdicts.filter((v) => v.status === "violated" ||
  v.summary === run.summary).flatMap((v) => v.steps));
const strikeAt = group(run.strikes, (s) => s.step);
const changesAt = group(run.changes, (c) => c.step);
const arrivalAt = new Map(), takenAt = new Map(); // by a fault
for (const m of run.messages) if (m.step) (m.lost ? takenAt : arrivalAt).set(m.step, m);
const callAt = new Map(), returnAt = new Map();
for (const c of run.calls) {
  callAt.set(c.from, c);
  if (c.took >= 0) returnAt.set(c.to, c);
}

// view is what the reader has chosen.
const view = { open: new Set(), quiet: new Set(), unfolded: false, height: 20, cursor: 1, message: null, found: [] };

let rows = []; // {from, to, kind, lines}
let rowOf = []; // by step: an index of rows

function group(list, key) {
  const map = new Map();
  for (const item of list) {
    const k = key(item);
    if (!map.has(k)) map.set(k, []);
    map.get(k).push(item);
  }
  return map;
}

// layOut places all lines.
function layOut() {
  rows = [];
  rowOf = new Array(last + 2).fill(0);
  let before = 0;
  for (let step = 1; step <= last;) {
    const end = foldFrom(step);
    if (end > step) {
      const open = view.unfolded || view.open.has(step);
      addRow({ from: step, to: end - 1, kind: "fold", open });
      if (open) for (let n = step; n < end; n++) addRow({ from: n, to: n, kind: "line" });
      before = lineAt(end - 1).t;
      step = end;
      continue;
    }
    const gap = lineAt(step).t - before;
    if (step > 1 && gap >= 50_000) addRow({ from: step, to: step, kind: "gap", gap });
    const to = effectsOf(step);
    addRow({ from: step, to, kind: "line" });
    before = lineAt(to).t;
    step = to + 1;
  }
  rowOf[last + 1] = rows.length;
}

function addRow(row) {
  for (let n = row.from; n <= row.to; n++) rowOf[n] = rows.length;
  rows.push(row);
}

// foldFrom is the step behind the folded lines that begin at a step, or the step itself.
function foldFrom(step) {
  while (step <= last && !verdictSteps.has(step) && (lineAt(step).f || view.quiet.has(step))) step++;
  return step;
}

// effectsOf is the last of the lines about what a request did at the server. They share its row.
function effectsOf(step) {
  const m = arrivalAt.get(step);
  if (!m || !m.up) return step;
  let to = step;
  while (to < last && lineAt(to + 1).a === "server" && lineAt(to + 1).t === lineAt(step).t &&
    !verdictSteps.has(to + 1) && to < step + 4) to++;
  return to;
}

const heightOf = (row) => row * view.height;
const middle = (step) => (rowOf[Math.min(step, last + 1)] + .5) * view.height;

// seconds is a time of the trace as text.
const seconds = (micros) => (micros / 1e6).toFixed(6);

// duration is a length of time in few digits.
function duration(micros) {
  if (micros < 1000) return micros + " \u00b5s";
  if (micros < 1e6) return +(micros / 1000).toFixed(2) + " ms";
  return +(micros / 1e6).toFixed(2) + " s";
}

// foldText describes folded lines.
function foldText(row) {
  const kinds = new Map();
  for (let n = row.from; n <= row.to; n++) {
    const l = lineAt(n);
    const kind = l.f || "further line";
    if (!kinds.has(kind)) kinds.set(kind, new Set());
    kinds.get(kind).add(l.a);
  }
  const parts = [...kinds].map(([kind, who]) => kind === "own line" ? "requests of the test itself" :
    `${kind}s of ${[...who].filter((a) => a !== "server").sort().join(", ") || "server"}`);
  const count = row.to - row.from + 1;
  const from = row.from > 1 ? lineAt(row.from - 1).t : 0;
  const took = duration(lineAt(Math.min(row.to + 1, last)).t - from);
  return `${row.open ? "\u25be" : "\u25b8"} ${count} line${count > 1 ? "s" : ""} in ${took}: ` +
    parts.join("; ");
}
