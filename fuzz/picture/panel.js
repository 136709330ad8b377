// The panel: the chosen line, the clients and the tree at that line, and the verdicts.

function element(tag, attributes, ...content) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "style") e.style.cssText = value; else e.setAttribute(name, value);
  }
  e.append(...content);
  return e;
}

const stepLink = (step, text) => element("a", { class: "step", "data-step": step, tabindex: 0 },
  text || "step " + step);

// linked is a text in which the znodes to blame are marked, and the given steps are links.
function linked(text, steps) {
  const parts = document.createDocumentFragment();
  const names = [...run.blamed].sort((a, b) => b.length - a.length);
  const whole = names.map((n) => escaped(n) + "(?![\\w/-])"); // not the beginning of a longer path
  const pattern = [...whole, ...(steps || []).map((s) => `\\b${s}\\b`)].join("|");
  if (!pattern) {
    parts.append(text);
    return parts;
  }
  for (const piece of text.split(new RegExp(`(${pattern})`))) {
    if (names.includes(piece)) parts.append(element("span", { class: "znode blamed" }, piece));
    else if ((steps || []).includes(+piece)) parts.append(stepLink(+piece, piece));
    else parts.append(piece);
  }
  return parts;
}

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

function showPanel() {
  const panel = document.getElementById("panel"), kept = openDetails(panel);
  const step = view.cursor, scroll = panel.scrollTop;
  panel.replaceChildren(...about(step), element("h2", {}, `clients at step ${step}`),
    clientsAt(step), ...serversAt(step), element("h2", {}, `znodes at step ${step}`), treeAt(step),
    ...verdictPart(),
    ...orderPart());
  for (const d of panel.querySelectorAll("details")) d.open = kept.has(d.id) || d.open;
  panel.scrollTop = scroll;
}

const openDetails = (panel) =>
  new Set([...panel.querySelectorAll("details[open]")].map((d) => d.id));

// about describes a line: its text, and the message, call, fault or change that it is.
function about(step) {
  const l = lineAt(step);
  const facts = [];
  const fact = (name, ...value) => {
    if (name) facts.push(element("dt", {}, name));
    facts.push(element("dd", {}, ...value));
  };
  const m = view.message || arrivalAt.get(step) || takenAt.get(step);
  if (m) messageFacts(m, fact);
  else if (l.n) fact("server", String(l.n));
  dataFacts(m, l, fact);
  for (const c of [callAt.get(step), returnAt.get(step)]) if (c) callFacts(c, step, fact);
  for (const s of strikeAt.get(step) || []) {
    fact("fault", s.fault);
    fact("acts on", s.target || s.c || (s.server ? `server ${s.server}` : "all clients"));
    if (s.until > s.step + 1) fact("until", stepLink(Math.min(s.until, last)));
  }
  for (let n = step; n <= rows[rowOf[step]].to && rows[rowOf[step]].kind === "line"; n++) {
    for (const c of changesAt.get(n) || []) changeFacts(c, fact);
  }
  return [element("h2", {}, `step ${step}, ${seconds(l.t)} s, ${l.a}`),
    element("p", { class: "text" }, linked(l.x)), element("dl", {}, ...facts)];
}

function messageFacts(m, fact) {
  fact("message", m.up ? `${m.op} to the server` : m.op ? "notification" : "reply",
    `, connection ${m.conn} of ${m.c}` + (m.server ? `, server ${m.server}` : ""));
  fact("sent", `${seconds(m.sent)} s`);
  if (m.lost) fact("arrived", m.step ? "never: a fault took it" : "never");
  else fact("took", duration(lineAt(m.step).t - m.sent));
  if (!m.up) fact(m.op ? "caused at" : "request", stepLink(m.from));
  const reply = m.up && run.messages.find((r) => !r.up && !r.op && r.from === m.step);
  if (reply) fact("reply", reply.lost || !reply.step ? "lost" : stepLink(reply.step));
  placeFacts("sent at", m.at, fact);
}

// placeFacts shows a place in the code by its number, and the line there.
function placeFacts(name, at, fact) {
  const place = at && run.places[at - 1];
  if (!place) return;
  const file = place.where.slice(place.where.lastIndexOf("/") + 1);
  fact(name, element("code", { class: "where", title: place.where }, file));
  if (place.source) fact("", element("code", { class: "source" }, place.source));
}

// dataFacts shows the data that a request carries, even if it fails, and those of its answer.
function dataFacts(m, l, fact) {
  const request = m && !m.up && !m.op && m.from ? lineAt(Math.min(m.from, last)) : l;
  if (request.s && (!m || m.up)) fact("carries", JSON.stringify(request.s));
  if (request.r) fact("reads", JSON.stringify(request.r));
}

function callFacts(c, step, fact) {
  fact("call", c.x);
  fact("outcome", c.outcome);
  if (c.took >= 0) {
    fact("took", duration(c.took));
    if (step === c.from) fact("returns", stepLink(c.to)); else fact("called", stepLink(c.from));
  }
  if (c.deadline) fact("context done", seconds(c.deadline) + " s");
  if (c.err) fact("error", c.err);
  placeFacts("called at", c.at, fact);
  placeFacts("first request at", c.first, fact);
}

function changeFacts(c, fact) {
  fact(c.kind.replace("-", " "), linked(c.path || c.owner));
  if (c.data) fact("data", JSON.stringify(c.data));
  fact("by", c.session ? `${c.session} (${c.c})` : "the server itself");
  if (c.path && c.owner) fact("ephemeral of", c.owner);
  fact("zxid", c.zxid);
}

// at reports whether a bar covers a step.
const at = (bar, step, to) => bar.from <= step && step < (to ?? bar.to);

function clientsAt(step) {
  const list = element("ul", {});
  for (const { name } of run.clients) {
    const parts = [];
    const live = run.sessions.filter((s) => s.c === name && at(s, step)).map((s) => s.x);
    if (live.length || run.servers) parts.push(live.length ? "session " + live.join(", ") : "no session");
    const off = run.cutOff.filter((c) => c.c === name && at(c, step)).map((c) => c.x);
    const m = run.messages.findLast((m) => m.c === name && m.server && m.from <= step);
    if (m && live.length && !off.length) parts.push("connected to server " + m.server);
    parts.push(...off);
    for (const c of run.calls) if (c.c === name && at(c, step)) parts.push("in " + c.name);
    for (const h of run.holds) {
      const held = at(h, step, h.held), believed = at(h, step, h.believed);
      if (h.c === name && (held || believed)) {
        const zombie = run.zombies.some((z) => z.c === name && at(z, step));
        parts.push(held && believed ? "holds" : held ? "holds for the server only" :
          zombie ? "still believes that it holds, but for the server it does not" :
          "believes that it holds");
      }
    }
    list.append(element("li", {}, element("b", {}, name), ": " + (parts.join(", ") || "in no call")));
  }
  return list;
}

// serversAt tells of each of several servers who leads, what is wrong, and what it has applied.
function serversAt(step) {
  if (run.servers <= 1) return [];
  const list = element("ul", { class: "servers" });
  const number = (s) => parseInt(s.zxid); // before the words about its epoch
  let newest = null; // a leader may apply what it has decided after a follower
  for (let n = 1; n <= run.servers; n++) {
    const s = stateAt(n, step);
    if (s && (!newest || number(s) > number(newest))) newest = s;
  }
  for (let n = 1; n <= run.servers; n++) {
    const s = stateAt(n, step);
    if (!s) continue;
    const parts = [s.leads ? "leads" : "", s.trouble || "",
      `has applied zxid ${s.zxid}`].filter((p) => p);
    if (newest.zxid !== s.zxid) parts.push(`another has ${newest.zxid}`);
    list.append(element("li", {}, element("b", {}, "server " + n), ": " + parts.join(", ")));
  }
  return [element("h2", {}, `servers at step ${step}`), list];
}

// treeAt is the tree after a step. Znodes that the step made or deleted are marked.
function treeAt(step) {
  const to = rows[rowOf[step]].kind === "line" ? rows[rowOf[step]].to : step;
  const nodes = new Map(), owners = new Map(run.sessions.map((s) => [s.x, s.c]));
  for (const c of run.changes) {
    if (c.step > to) break;
    const now = c.step >= step;
    if (c.kind === "node-created") nodes.set(c.path, { ...c, fresh: now });
    if (c.kind === "data-changed" && nodes.has(c.path)) nodes.get(c.path).data = c.data;
    if (c.kind !== "node-deleted" || !nodes.has(c.path)) continue;
    if (now) nodes.get(c.path).gone = true; else nodes.delete(c.path);
  }
  const root = element("ul", { class: "tree" }), lists = new Map([["", root]]);
  for (const path of [...nodes.keys()].sort()) {
    const n = nodes.get(path);
    let parent = path.slice(0, path.lastIndexOf("/"));
    while (!lists.has(parent)) parent = parent.slice(0, parent.lastIndexOf("/"));
    const shown = parent === "" ? path : path.slice(parent.length + 1);
    const cls = (run.blamed.includes(path) ? "blamed " : "") +
      (n.gone ? "gone" : n.fresh ? "fresh" : "");
    const item = element("li", {},
      element("span", { class: cls, title: path, "data-path": path }, shown));
    if (n.data) item.append(" ", element("span", { class: "data" }, JSON.stringify(n.data)));
    if (n.owner) {
      item.append(" ", element("span", { class: "owner" },
        `ephemeral of ${n.owner} (${owners.get(n.owner) || "?"})`));
    }
    const below = element("ul", {});
    item.append(below);
    lists.get(parent).append(item);
    lists.set(path, below);
  }
  if (!nodes.size) root.append(element("li", { class: "owner" },
    run.servers ? "none made by the run" : "not known: nothing of the server is recorded"));
  return root;
}

function verdictPart() {
  const list = element("ul", {});
  for (const v of run.verdicts) {
    list.append(element("li", { class: v.status }, `${v.property}: ${v.status}. `,
      linked(v.summary, v.steps)));
  }
  for (const m of run.measured) list.append(element("li", {}, m));
  return [element("details", { id: "verdicts" }, element("summary", {}, "all verdicts"), list)];
}

// orderPart is the linearization that porcupine has found, beside the calls.
function orderPart() {
  if (!run.order) return [];
  const list = element("ol", {}), { taken, left } = run.order;
  for (const o of taken) {
    list.append(element("li", {}, stepLink(Math.min(o.from, last), `${o.c}: ${o.x}`),
      element("span", { class: "owner" }, ` \u2192 ${o.state}`)));
  }
  const parts = [element("summary", {}, left.length ? "porcupine: no order has all calls" :
    "porcupine: an order of all calls"), list];
  if (left.length) {
    const rest = element("ul", { class: "left" });
    for (const o of left) rest.append(element("li", {}, stepLink(Math.min(o.from, last),
      `${o.c}: ${o.x}`)));
    parts.splice(1, 0, element("p", {}, "The longest order that the model allows:"));
    parts.push(element("p", {}, "It has no place for:"), rest);
  }
  return [element("details", { id: "order" }, ...parts)];
}
