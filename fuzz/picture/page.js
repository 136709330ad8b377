// The page: rows, cursor, search, zoom, keys.

const chart = document.getElementById("chart");
const byId = (id) => document.getElementById(id);
const root = document.documentElement;

// showRows shows the lines between two heights beside the diagram.
function showRows(from, to) {
  const first = Math.max(0, Math.floor(from / view.height));
  const end = Math.min(rows.length, Math.ceil(to / view.height) + 1);
  const list = [];
  for (let i = first; i < end; i++) list.push(rowElement(rows[i], i));
  byId("rows").replaceChildren(...list);
}

function rowElement(row, i) {
  const e = element("div", { class: rowClass(row, i), "data-row": i,
    style: `top:${heightOf(i)}px;height:${view.height}px` });
  const text = element("span", { class: "x" });
  if (row.kind === "gap") text.append(`${duration(row.gap)} later`);
  else if (row.kind === "fold") text.append(foldText(row));
  else fillLine(e, text, row);
  e.append(text);
  return e;
}

function rowClass(row, i) {
  if (row.kind !== "line") return "row " + row.kind + (rowOf[view.cursor] === i ? " cursor" : "");
  let cls = "row";
  for (let n = row.from; n <= row.to; n++) {
    if (verdictSteps.has(n)) cls += " verdict";
    if (strikeAt.has(n) || lineAt(n).a === "fault") cls += " fault";
    if (view.hits && view.hits.has(n)) cls += " hit";
    if (n === view.cursor) cls += " cursor";
  }
  return cls;
}

function fillLine(e, text, row) {
  const l = lineAt(row.from);
  e.append(element("span", { class: "n" }, String(row.from)),
    element("span", { class: "t" }, seconds(l.t)));
  const lane = laneOf.get(l.a.split(".")[0]);
  text.append(element("span", { class: "who", style: `--c:${lane ? lane.colour : "var(--fault)"}` },
    l.a));
  const m = arrivalAt.get(row.from), r = returnAt.get(row.from);
  const kind = callAt.has(row.from) || r ? "call" : m && !m.up && !m.op ? "reply" : "";
  const ended = r && r.outcome !== "ok" ? " ended" : "";
  text.append(element("span", { class: kind + ended }, linked(l.x)));
  if (l.s || l.r) text.append(element("span", { class: "data" }, " " + JSON.stringify(l.r || l.s)));
  for (let n = row.from + 1; n <= row.to; n++) {
    text.append(element("span", { class: "also" }, " \u00b7 ", linked(lineAt(n).x)));
  }
  text.title = l.x;
}

let waiting = false;

// refresh draws the visible part before the next frame.
function refresh() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    if (view.printing) paint(0, Infinity);
    else paint(chart.scrollTop - 100, chart.scrollTop + chart.clientHeight + 100);
  });
}

function paint(from, to) {
  showRows(from, to);
  draw(from, to);
  paintMap();
}

// arrange lays out everything anew.
function arrange() {
  const narrow = innerWidth <= 860;
  const gutter = narrow ? 44 : 128;
  placeLanes((chart.clientWidth - gutter) * .46);
  layOut();
  root.style.setProperty("--gutter", gutter + "px");
  root.style.setProperty("--diagram", width + "px");
  root.style.setProperty("--wide", gutter + width + 260 + "px");
  byId("body").style.height = heightOf(rows.length) + 12 + "px";
  chart.classList.toggle("small", view.height < 12);
  chart.classList.toggle("narrow", narrow);
  chart.classList.toggle("dense", view.height < 16);
  byId("lanes").replaceChildren(...lanes.map((lane) => element("div",
    { class: lane.server ? "server" : "client", style: `left:${gutter + lane.x}px;color:${lane.colour}` },
    narrow && run.servers > 1 ? lane.name.replace("server ", "s") : lane.name,
    element("small", {}, (lane.goroutines || []).slice(1).join(" ")))));
  refresh();
}

// select moves the cursor to a line, and shows a message if one is given.
function select(step, message) {
  if (!last) return; // a run without lines
  view.cursor = Math.max(1, Math.min(last, step));
  view.message = message || null;
  const y = middle(view.cursor), head = byId("lanes").offsetHeight;
  if (y < chart.scrollTop + 20 || y > chart.scrollTop + chart.clientHeight - head - 20) {
    chart.scrollTop = y - chart.clientHeight * .6;
  }
  try { history.replaceState(null, "", "#step-" + view.cursor); } catch { /* a page in a frame */ }
  showPanel();
  refresh();
}

// move goes to the next row with a line, or to the one before.
function move(by) {
  let i = rowOf[view.cursor] + by;
  while (rows[i] && rows[i].kind === "gap") i += by;
  if (rows[i]) select(rows[i].from);
}

// jump goes to the next of some steps, or to the one before, and around.
function jump(steps, by) {
  const sorted = [...new Set(steps)].filter((s) => s >= 1 && s <= last).sort((a, b) => a - b);
  if (!sorted.length) return;
  const next = by > 0 ? sorted.find((s) => s > view.cursor) :
    sorted.findLast((s) => s < view.cursor);
  select(next ?? (by > 0 ? sorted[0] : sorted.at(-1)));
}

const jumpVerdict = (by) => jump(verdictSteps, by);
const jumpFault = (by) => jump(run.strikes.map((s) => s.step), by);
const jumpHit = (by) => jump(view.hits || [], by);

// anchor keeps the cursor where it is on the screen while something changes.
function anchored(change) {
  const y = middle(view.cursor) - chart.scrollTop;
  change();
  arrange();
  chart.scrollTop = middle(view.cursor) - y;
}

const heights = [2, 4, 7, 12, 16, 20, 26, 34];

function zoom(by) {
  const i = heights.findIndex((h) => h >= view.height);
  anchored(() => { view.height = heights[Math.max(0, Math.min(heights.length - 1, i + by))]; });
}

function fit() {
  const least = (chart.clientHeight - 60) / rows.length;
  anchored(() => { view.height = heights.findLast((h) => h <= least) || heights[0]; });
}

function unfold(all) {
  anchored(() => {
    view.unfolded = all;
    view.open.clear();
  });
  byId("unfold").setAttribute("aria-pressed", String(view.unfolded));
}

function toggleFold(row) {
  if (!row) return;
  anchored(() => {
    if (!view.open.delete(row.from)) view.open.add(row.from);
    view.cursor = row.from;
  });
  showPanel();
}

// search marks the lines with a text, in any case.
function search(text) {
  const wanted = text.trim().toLowerCase();
  view.hits = new Set();
  if (wanted) {
    run.lines.forEach((l, i) => {
      if ((l.a + " " + l.x).toLowerCase().includes(wanted)) view.hits.add(i + 1);
    });
  }
  byId("hits").textContent = wanted ? `${view.hits.size} found` : "";
  refresh();
}

// paintMap draws the whole run in a few pixels: faults, steps of the verdict, and what is visible.
function paintMap() {
  const map = byId("map"), height = map.clientHeight, g = map.getContext("2d");
  const colour = (name) => getComputedStyle(root).getPropertyValue(name);
  map.height = height;
  const y = (step) => rowOf[step] / rows.length * height;
  const mark = (step, name, x, wide) => {
    g.fillStyle = colour(name);
    g.fillRect(x, Math.min(y(step), height - 3), wide, 3);
  };
  const total = heightOf(rows.length);
  g.fillStyle = colour("--hover");
  g.fillRect(0, chart.scrollTop / total * height, 16, chart.clientHeight / total * height);
  for (const s of run.strikes) mark(s.step, "--fault", 0, 10);
  for (const s of view.hits || []) mark(s, "--link", 10, 6);
  for (const s of verdictSteps) if (s <= last) mark(s, "--bad", 4, 12);
}

function setTheme(name) { root.dataset.theme = name; refresh(); }

const keys = {
  j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1),
  PageDown: () => page(1), PageUp: () => page(-1), Home: () => select(1), End: () => select(last),
  v: () => jumpVerdict(1), V: () => jumpVerdict(-1), f: () => jumpFault(1), F: () => jumpFault(-1),
  n: () => jumpHit(1), N: () => jumpHit(-1), "/": () => byId("search").focus(),
  "+": () => zoom(1), "=": () => zoom(1), "-": () => zoom(-1), 0: fit,
  u: () => unfold(!view.unfolded),
  t: () => setTheme(root.dataset.theme === "dark" ? "light" : "dark"),
  Enter: () => toggleFold(rows.find((r) => r.kind === "fold" && at(r, view.cursor, r.to + 1))),
  "?": () => byId("legend").showModal(),
};

function page(by) {
  const i = rowOf[view.cursor] + by * Math.floor(chart.clientHeight / view.height - 2);
  select(rows[Math.max(0, Math.min(rows.length - 1, i))].from);
}

function listen() {
  addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || byId("legend").open) return;
    if (e.target.id === "search") {
      if (e.key === "Enter") jumpHit(e.shiftKey ? -1 : 1);
      else if (e.key === "Escape") chart.focus();
      return;
    }
    if (e.target.closest("button, summary") && (e.key === "Enter" || e.key === " ")) return;
    if (e.target.matches("a.step") && e.key === "Enter") return void e.target.click();
    const act = keys[e.key];
    if (act) {
      e.preventDefault();
      act();
    }
  });
  addEventListener("click", (e) => {
    const link = e.target.closest("a.step");
    if (link && +link.dataset.step) select(+link.dataset.step);
    const znode = e.target.closest("[data-path]");
    if (znode) { // its lines are those with its path
      byId("search").value = znode.dataset.path;
      search(znode.dataset.path);
    }
  });
  byId("rows").addEventListener("click", (e) => {
    const row = rows[e.target.closest(".row")?.dataset.row];
    if (row?.kind === "fold") toggleFold(row); else if (row?.kind === "line") select(row.from);
  });
  chart.addEventListener("scroll", refresh);
  chart.addEventListener("wheel", (e) => {
    if (!e.ctrlKey) return;
    e.preventDefault();
    zoom(e.deltaY < 0 ? 1 : -1);
  }, { passive: false });
  byId("map").addEventListener("click", (e) => {
    chart.scrollTop = e.offsetY / byId("map").clientHeight * heightOf(rows.length) -
      chart.clientHeight / 2;
  });
  byId("search").addEventListener("input", (e) => search(e.target.value));
  const buttons = { "next-verdict": keys.v, "next-fault": keys.f, "zoom-in": keys["+"],
    "zoom-out": keys["-"], fit, unfold: keys.u, theme: keys.t, help: keys["?"] };
  for (const [id, act] of Object.entries(buttons)) byId(id).addEventListener("click", () => act());
  byId("copy")?.addEventListener("click", copy);
  addEventListener("resize", arrange);
  byId("story").addEventListener("toggle", () => select(view.cursor, view.message));
  addEventListener("beforeprint", () => {
    view.printing = true;
    root.dataset.theme = "light";
    byId("story").open = false;
    anchored(() => { view.height = 16; });
    paint(0, Infinity);
  });
  addEventListener("afterprint", () => {
    view.printing = false;
    refresh();
  });
}

function copy() {
  const range = document.createRange();
  range.selectNodeContents(byId("repeat"));
  getSelection().removeAllRanges();
  getSelection().addRange(range);
  if (document.execCommand("copy")) byId("copy").textContent = "copied"; // works from disk, too
}

// showAll scrolls to where some steps are on the screen together, if there is such a place. If they
// are too far apart, it folds the lines between them, but for some around each.
function showAll(steps) {
  const keys = steps.filter((s) => s >= 1 && s <= last), first = Math.min(...keys);
  if (!keys.length) return;
  for (const around of [last, 12, 8, 5, 3, 2, 1, 0]) {
    view.quiet.clear();
    for (let n = first; n <= Math.max(...keys); n++) {
      if (!keys.some((k) => Math.abs(k - n) <= around)) view.quiet.add(n);
    }
    arrange();
    const ys = keys.map(middle), top = Math.min(...ys);
    const spare = chart.clientHeight - 90 - (Math.max(...ys) - top);
    if (spare < 0) continue;
    chart.scrollTop = top - 30 - spare / 2;
    return;
  }
  view.quiet.clear();
  arrange();
}

// linkSteps makes links of the steps that a text of the page names.
function linkSteps(e) {
  const parts = e.textContent.split(/(\bsteps? \d+(?: to \d+)?)/);
  e.replaceChildren(...parts.flatMap((text, i) => i % 2 === 0 ? linked(text) :
    text.split(/(\d+)/).map((part, j) => j % 2 ? stepLink(+part, part) : part)));
}

function start() {
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const summary = byId("summary"), named = run.verdicts.find((v) => v.summary === run.summary);
  summary.replaceChildren(linked(run.summary, named ? named.steps : []));
  if (byId("meaning")) linkSteps(byId("meaning"));
  for (const id of ["next-verdict", "next-fault"]) {
    byId(id).disabled = !(id === "next-fault" ? run.strikes.length : verdictSteps.size);
  }
  fillLegend();
  arrange();
  listen();
  const wanted = /^#step-(\d+)$/.exec(location.hash);
  let steps = named ? named.steps.filter((s) => new RegExp(`\\b${s}\\b`).test(run.summary)) : [];
  if (named && !steps.length) steps = named.steps;
  // what a test expects of a service has no steps: it fails at the end
  const failed = named && !steps.length && rows.findLast((r) => r.kind === "line");
  const first = wanted ? +wanted[1] :
    Math.max(0, ...steps) || run.strikes[0]?.step || failed?.from || 1;
  if (!wanted) showAll([...steps, ...run.strikes.map((s) => s.step), ...(failed ? [failed.from] : [])]);
  select(Math.min(first, last));
}

start();
