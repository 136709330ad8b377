// The list of signs and keys.

function fillLegend() {
  const table = (list) => element("table", {}, ...list.map(([a, b]) =>
    element("tr", {}, element("td", {}, a), element("td", {}, b))));
  const key = (...names) => {
    const span = element("span", {});
    names.forEach((n) => span.append(element("kbd", {}, n), " "));
    return span;
  };
  const sign = (shapes) => {
    const s = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    s.setAttribute("width", 60);
    s.setAttribute("height", 18);
    s.style.setProperty("--c", "var(--lane0)");
    for (const [tag, attributes] of shapes) svg(tag, attributes, s);
    return s;
  };
  const line = (cls) => ["line", { class: "arrow " + cls, x1: 2, x2: 50, y1: 9, y2: 9 }];
  const head = ["path", { class: "head", d: "M0 0L-8 -3.4L-6.4 0L-8 3.4Z",
    transform: "translate(54 9)" }];
  const box = (cls, height = 12) => ["rect", { class: cls, x: 4, y: 3, width: 48, height }];
  byId("legend").replaceChildren(element("h2", {}, "signs"), table([
    [sign([line("request"), head]), "a request, from its sending to its arrival"],
    [sign([line("reply"), head]), "a reply"],
    [sign([line("event"), head]), "a watch notification"],
    [sign([["line", { class: "arrow lost", x1: 2, x2: 30, y1: 9, y2: 9 }],
      ["line", { class: "lost-end", x1: 26, x2: 34, y1: 5, y2: 13 }],
      ["line", { class: "lost-end", x1: 26, x2: 34, y1: 13, y2: 5 }]]),
      "a message that never arrived as a whole"],
    [sign([["path", { class: "bolt", d: "M2 -10L-6 2L-1 2L-3 10L6 -3L1 -3L4 -10Z",
      transform: "translate(12 9) scale(.8)" }], ["rect",
      { class: "outage", x: 28, y: 3, width: 24, height: 12 }]]),
      "a fault, and how long it lasts"],
    [sign([box("session", 6)]), "a session, on the line of its client"],
    [sign([box("call-bar")]), "a call; dashed: it never returned; red: it failed"],
    [sign([box("belief"), ["rect", { class: "hold", x: 4, y: 6, width: 30, height: 6 }]]),
      "a hold: full for the server, framed as the client believes"],
    [sign([box("zombie")]), "a zombie window: the client believes that it holds, and for the server it does not"],
    [sign([["rect", { class: "change created", x: 3, y: 5, width: 9, height: 9 }],
      ["rect", { class: "change", x: 22, y: 5, width: 9, height: 9 }],
      ["circle", { class: "change", cx: 46, cy: 9, r: 4.5 }]]),
      "a znode is created, is deleted, gets new data"],
    [sign([box("blamed-bar")]), "a znode to blame, for as long as it exists"],
    [sign([["rect", { class: "leads", x: 12, y: 2, width: 5, height: 14 }],
      ["rect", { class: "trouble", x: 24, y: 3, width: 13, height: 12 }],
      ["circle", { class: "applied", cx: 50, cy: 9, r: 2.6 }]]),
      "of several servers: it leads, something is wrong with it, it has applied changes"],
    [element("b", { style: "color:var(--bad)" }, "\u25c6 58"), "a step that the verdict names"],
  ]), element("h2", {}, "keys"), table([
    [key("j", "k", "\u2193", "\u2191"), "next line, line before"],
    [key("v", "f"), "next step of the verdict, next fault; with shift the one before"],
    [key("/", "n", "N"), "search, next, the one before"],
    [key("+", "-", "0"), "zoom, and the whole run"],
    [key("Enter", "u"), "unfold this, unfold all"],
    [key("t", "?"), "light or dark, this list"],
  ]), element("form", { method: "dialog" }, element("button", {}, "close")));
}
