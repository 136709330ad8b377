// The diagram: lanes, bars, arrows and marks, as far as they can be seen.

const lanes = []; // {name, x, side, colour, calls}
const laneOf = new Map();
let width = 0;
let narrowing = 1; // of the lanes of many clients

// laneOfServer is the lane of a server by its number, 0 if there is only one.
const laneOfServer = (n) => laneOf.get(n ? "server " + n : "server");

// placeLanes puts the servers into the middle, so that few arrows cross another lane. Many clients
// stand close and are narrow, so that the lines have some room beside them.
function placeLanes(room) {
  lanes.length = 0;
  const left = Math.ceil(run.clients.length / 2);
  const wide = run.servers > 1 ? 62 * run.servers + 36 : 88 * run.servers; // of all servers
  let inner = 18;
  narrowing = 1;
  const own = (c) => inner + narrowing * (28 + 17 * c.goroutines.length);
  const sum = () => run.clients.reduce((sum, c) => sum + own(c), wide + 8);
  if (sum() > 1.4 * room) {
    inner = 2;
    const fixed = wide + 8 + inner * run.clients.length;
    narrowing = Math.max(.5, Math.min(1, (1.4 * room - fixed) / (sum() - fixed)));
  }
  const least = sum();
  const spare = Math.max(0, Math.min((room - least) / (run.clients.length + 1), 60));
  let x = 8;
  const add = (c, side, index) => {
    const room = own(c) + spare;
    lanes.push({ ...c, x: side < 0 ? x + room - inner - spare / 2 : x + inner + spare / 2, side,
      colour: `var(--lane${index % 16})` });
    x += room;
  };
  run.clients.slice(0, left).forEach((c, i) => add(c, -1, i));
  const names = run.servers > 1 ? Array.from({ length: run.servers }, (_, i) => "server " + (i + 1))
    : ["server"].slice(0, run.servers);
  names.forEach((name, i) => {
    const middle = run.servers > 1 ? 31 + 62 * i : 44;
    lanes.push({ name, x: x + spare / 2 + middle, side: 1, colour: "var(--server)", server: true });
  });
  x += wide + spare;
  run.clients.slice(left).forEach((c, i) => add(c, 1, left + i));
  width = x + 8;
  laneOf.clear();
  for (const lane of lanes) laneOf.set(lane.name, lane);
  laneOf.set("server", lanes.find((lane) => lane.server));
}

// barX is the left edge of a bar at a distance from a lifeline, on its outer side.
const barX = (lane, at, wide) => lane.side < 0 ? lane.x - at - wide : lane.x + at;

function svg(tag, attributes, parent) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  parent.append(e);
  return e;
}

// tip gives a shape a text that is shown under the pointer.
function tip(shape, text) {
  svg("title", {}, shape).textContent = text;
  return shape;
}

// draw draws what lies between two heights.
function draw(from, to) {
  const root = document.getElementById("diagram");
  root.replaceChildren();
  const height = rows.length * view.height;
  root.setAttribute("width", width);
  root.setAttribute("height", height);
  patterns(root);
  const seen = (a, b) => b >= from && a <= to;
  for (const lane of lanes) {
    svg("line", { class: "life", x1: lane.x, x2: lane.x, y1: Math.max(0, from),
      y2: Math.min(height, to) }, root);
  }
  const y = middle(view.cursor);
  svg("line", { class: "cursor-line", x1: 0, x2: width, y1: y, y2: y }, root);
  drawBars(root, from, to, seen);
  drawApplied(root, seen);
  for (const m of run.messages) drawMessage(root, m, seen);
  for (const c of run.changes) drawChange(root, c, seen);
  for (const s of run.strikes) drawStrike(root, s, seen);
}

function patterns(root) {
  const defs = svg("defs", {}, root);
  for (const [id, colour] of [["hatch", "var(--bad)"], ["fault-hatch", "var(--fault)"]]) {
    const p = svg("pattern", { id, width: 6, height: 6, patternUnits: "userSpaceOnUse",
      patternTransform: "rotate(45)" }, defs);
    svg("line", { x1: 0, x2: 0, y1: 0, y2: 6, style: `stroke:${colour};stroke-width:3` }, p);
  }
}

function drawBars(root, from, to, seen) {
  // bar is a rectangle from one step to another, with a label where there is room.
  const bar = (lane, cls, at, wide, a, b, text, label) => {
    const y1 = middle(a), y2 = Math.max(middle(b), y1 + 3);
    if (!lane || !seen(y1, y2)) return;
    if (!lane.server) [at, wide] = [at * narrowing, wide * narrowing];
    const x = barX(lane, at, wide);
    const r = svg("rect", { class: "bar " + cls, x, width: wide, y: y1, height: y2 - y1,
      rx: Math.min(3, wide / 2), style: `--c:${lane.colour}` }, root);
    r.addEventListener("click", () => select(a));
    tip(r, text);
    const top = Math.max(y1, from + 130) + 4;
    const room = Math.floor((y2 - top - 4) / 6.4);
    if (label && room >= Math.min(label.length, 6)) {
      const shown = label.length > room ? "\u2026" + label.slice(1 - room) : label;
      svg("text", { transform: `translate(${x + wide / 2 - 3.5} ${top}) rotate(90)` },
        root).textContent = shown;
    }
  };
  const sessions = new Map();
  for (const s of run.sessions) {
    const lane = laneOf.get(s.c), n = sessions.get(s.c) || 0;
    sessions.set(s.c, n + 1);
    bar(lane, n % 2 ? "session other" : "session", -2.5, 5, s.from, s.to,
      `session ${s.x} of ${s.c}, steps ${s.from} to ${s.to}`);
  }
  for (const s of run.cutOff) {
    bar(laneOf.get(s.c), "cut", -.5, 1, s.from, s.to, `${s.c} is told: ${s.x}`);
  }
  for (const c of run.calls) {
    const lane = laneOf.get(c.c);
    const at = 18 + 17 * Math.max(0, lane ? lane.goroutines.indexOf(c.g) : 0);
    const wide = 13 - 4 * Math.min(c.depth, 2); // a call within another one
    bar(lane, `call-bar ${c.outcome}`, at, wide, c.from, c.to, `${c.g}: ${c.x}, ${c.outcome}`,
      c.depth ? "" : c.kind);
  }
  for (const h of run.holds) {
    const text = `${h.c} holds ${h.path || "it"} from step ${h.from}: for the server until ` +
      `${h.held}, and believes so until ${h.believed}`;
    bar(laneOf.get(h.c), "belief", 5, 11, h.from, h.believed, text);
    if (h.held > h.from) bar(laneOf.get(h.c), "hold", 7, 7, h.from, h.held, text, "holds");
  }
  for (const z of run.zombies) {
    bar(laneOf.get(z.c), "zombie", 5, 11, z.from, z.to, `zombie window: ${z.c} ${z.x}`, "zombie");
  }
  for (const s of run.strikes) {
    if (s.until <= s.step + 1) continue;
    for (const lane of lanes) {
      if (!s.server && (s.c === lane.name || !s.c && !lane.server)) {
        bar(lane, "outage", -9, 4, s.step, s.until, `${s.fault}, steps ${s.step} to ${s.until}`);
      }
    }
  }
  for (const s of stretches((s) => s.leads && "leads")) {
    bar(laneOfServer(s.server), "leads", -2.5, 5, s.from, s.to,
      `server ${s.server} leads, steps ${s.from} to ${s.to}`);
  }
  for (const s of stretches((s) => s.trouble)) {
    bar(laneOfServer(s.server), "trouble", 6, 13, s.from, s.to,
      `server ${s.server} ${s.text}, steps ${s.from} to ${s.to}`, s.text);
  }
  const blamedFrom = run.servers > 1 ? 24 : 9;
  lifeOf(run.blamed.slice(0, 4)).forEach(({ path, from, to }, i) => {
    bar(lanes.findLast((lane) => lane.server), "blamed-bar", blamedFrom + 15 * i, 13, from, to,
      `${path}, steps ${from} to ${to}`, path);
  });
}

// stretches are the times for which a text about the state of a server stays the same.
function stretches(textOf) {
  const list = [];
  const open = new Map();
  for (const s of run.states) {
    const text = textOf(s), before = open.get(s.server);
    if (before && before.text === text) {
      before.to = s.to;
      continue;
    }
    const next = text ? { server: s.server, from: s.from, to: s.to, text } : null;
    open.set(s.server, next);
    if (next) list.push(next);
  }
  return list;
}

// stateAt is the state of a server at a step.
const stateAt = (server, step) => run.states.findLast((s) => s.server === server && s.from <= step);

// leaderAt is the number of the server that leads at a step, 0 if none does.
function leaderAt(step) {
  for (let n = 1; n <= run.servers; n++) if (stateAt(n, step)?.leads) return n;
  return 0;
}

// drawApplied marks where servers have applied transactions.
function drawApplied(root, seen) {
  const before = new Map();
  for (const s of run.states) {
    const news = before.has(s.server) && before.get(s.server) !== s.zxid;
    before.set(s.server, s.zxid);
    const y = middle(s.from), lane = laneOfServer(s.server);
    if (!news || !seen(y, y) || rows[rowOf[s.from]]?.kind === "fold") continue;
    const dot = svg("circle", { class: "dot applied", cx: lane.x, cy: y, r: 2.6 }, root);
    dot.addEventListener("click", () => select(s.from));
    tip(dot, `server ${s.server} has applied zxid ${s.zxid}`);
  }
}

// lifeOf is when znodes existed.
function lifeOf(paths) {
  const lives = [];
  for (const path of paths) {
    for (const c of run.changes) {
      if (c.path !== path) continue;
      if (c.kind === "node-created") lives.push({ path, from: c.step, to: last + 1 });
      const open = lives.at(-1);
      if (c.kind === "node-deleted" && open && open.path === path) open.to = c.step;
    }
  }
  return lives;
}

// arrowOf is the line of a message: from its sender to its receiver, or, if it was lost, to the
// middle of the way.
function arrowOf(m) {
  const client = laneOf.get(m.c), server = laneOfServer(m.server);
  if (!client) return null;
  const [a, b] = m.up ? [client, server] : [server, client];
  const y1 = m.up ? heightOf(rowOf[Math.min(m.from, last + 1)]) : middle(m.from);
  const y2 = m.step ? middle(m.step) : y1 + view.height * .8;
  const inset = Math.sign(b.x - a.x) * 3;
  const x1 = a.x + inset, full = b.x - inset;
  const x2 = m.lost ? (x1 + full) / 2 : full;
  const sameRow = !m.lost && m.from <= last && m.step <= last && rowOf[m.from] === rowOf[m.step];
  if (sameRow && rows[rowOf[m.step]].kind === "fold") return null; // both ends are folded
  return { x1, y1, x2, y2, client };
}

function drawMessage(root, m, seen) {
  const a = arrowOf(m);
  if (!a || !seen(a.y1, a.y2)) return;
  const kind = (m.op === "ping" ? "ping" : !m.up && m.op ? "event" : m.up ? "request" : "reply") +
    (m.lost ? " lost" : "");
  const chosen = view.message === m ? " chosen" : "";
  const ends = { x1: a.x1, y1: a.y1, x2: a.x2, y2: a.y2 };
  svg("line", { class: `arrow ${kind}${chosen}`, style: `--c:${a.client.colour}`, ...ends }, root);
  if (m.lost) {
    for (const s of [1, -1]) {
      svg("line", { class: "lost-end", x1: a.x2 - 4, x2: a.x2 + 4, y1: a.y2 - 4 * s,
        y2: a.y2 + 4 * s }, root);
    }
  } else {
    const t = Math.atan2(a.y2 - a.y1, a.x2 - a.x1) * 180 / Math.PI;
    svg("path", { class: "head", d: "M0 0L-8 -3.4L-6.4 0L-8 3.4Z", style: `--c:${a.client.colour}`,
      transform: `translate(${a.x2} ${a.y2}) rotate(${t})` }, root);
  }
  const hit = svg("line", { class: "hit", ...ends }, root);
  hit.addEventListener("click", () => select(m.step || Math.min(m.from, last), m));
  tip(hit, messageText(m));
}

// messageText names a message in a few words.
function messageText(m) {
  const what = m.up ? m.op + " of " + m.c : m.op ? `event ${m.op} to ${m.c}` : `reply to ${m.c}`;
  const where = m.server ? `, server ${m.server}` : "";
  if (m.lost) return what + where + ", lost";
  return `${what}${where}, took ${duration(lineAt(m.step).t - m.sent)}`;
}

// drawChange marks a change of the tree on the server's lane: a filled square is a new znode, an
// empty one a deleted znode, a circle new data.
function drawChange(root, c, seen) {
  if (!c.path) return;
  const y = middle(c.step), x = laneOfServer(run.servers > 1 && leaderAt(c.step)).x;
  if (!seen(y, y) || rows[rowOf[c.step]].kind === "fold") return;
  const blamed = run.blamed.includes(c.path) ? " blamed" : "";
  const cls = `dot change ${c.kind.replace("node-", "")}${blamed}`;
  const shape = c.kind === "data-changed" ?
    svg("circle", { class: cls, cx: x, cy: y, r: 4.5 }, root) :
    svg("rect", { class: cls, x: x - 4.5, y: y - 4.5, width: 9, height: 9 }, root);
  shape.addEventListener("click", () => select(c.step));
  tip(shape, `${c.kind} ${c.path}`);
}

function drawStrike(root, s, seen) {
  const y = middle(s.step);
  if (!seen(y, y)) return;
  svg("line", { class: "fault-line", x1: 0, x2: width, y1: y, y2: y }, root);
  const x = ((s.server && laneOfServer(s.server)) || laneOf.get(s.c) || laneOf.get("server")).x;
  const bolt = svg("path", { class: "dot bolt", d: "M2 -10L-6 2L-1 2L-3 10L6 -3L1 -3L4 -10Z",
    transform: `translate(${x} ${y})` }, root);
  bolt.addEventListener("click", () => select(s.step));
  tip(bolt, s.fault);
}
