// A network too large to draw: how many agents play each arm, and the links that pay most and least.

import { button, choices, el, panel, scroller, table } from "./dom.js";
import { count, number, percent, whole } from "./format.js";
import { swatch } from "./legend.js";

export function makeLarge(model, choose) {
  const of = choices("Links as", { played: "Played", recommended: "Recommended" }, "played", (value) => {
    model.of = value;
    model.paces.links();
  });
  const made = panel("Network", { tools: [of], className: "graph" });

  function arms() {
    const { arms: names, agents_count: agents } = model.network;
    const { table: node, body } = table(
      [
        { text: "Arm" },
        { text: "Agents who play it" },
        { text: "Played", num: true },
        { text: "Recommended", num: true },
      ],
      { caption: "Agents by arm" },
    );
    const most = Math.max(1, ...(model.played?.counts ?? []), ...(model.recommended?.counts ?? []));
    names.forEach((name, at) => {
      const [now, best] = [model.played?.counts?.[at] ?? null, model.recommended?.counts?.[at] ?? null];
      const bar = el(
        "div",
        { class: "bar" },
        el("i", { style: { width: `${(100 * (now ?? 0)) / most}%` } }),
        best !== null && el("b", { style: { left: `${(100 * best) / most}%` }, title: "recommended" }),
      );
      body.append(
        el(
          "tr",
          {},
          el("th", { scope: "row" }, swatch(at), String(name)),
          el("td", { class: "wide" }, bar),
          el(
            "td",
            { class: "num" },
            whole(now),
            el("span", { class: "soft", text: now === null ? "" : ` ${percent(now / agents)}` }),
          ),
          el("td", { class: "num" }, whole(best)),
        ),
      );
    });
    return node;
  }

  function links(title, rows) {
    const { table: node, body } = table(
      [{ text: title }, { text: "Pays", num: true }, { text: "±", num: true }],
      { caption: title },
    );
    body.append(
      ...rows.slice(0, 8).map(({ source, target, reward, width }) =>
        el(
          "tr",
          {},
          el(
            "td",
            {},
            button(String(source), () => choose(source), { class: "link" }),
            " – ",
            button(String(target), () => choose(target), { class: "link" }),
          ),
          el("td", { class: "num" }, number(reward)),
          el("td", { class: "num" }, number(width, 2)),
        ),
      ),
    );
    return node;
  }

  function draw() {
    const { agents_count: agents, edges_count: edges } = model.network;
    const sizes = `${count(agents, "agent")} and ${count(edges, "link")}`;
    const { worst = [], best = [] } = model.links ?? {};
    made.body.replaceChildren(
      el("p", {
        text: `${sizes} are too many to draw. Search an agent to see its options and its neighbours.`,
      }),
      scroller("Agents by arm", arms()),
      el(
        "div",
        { class: "halves" },
        links("Links that pay least", worst),
        links("Links that pay most", best),
      ),
    );
  }

  model.on(["network", "played", "recommended", "links"], draw);
  draw();
  return { section: made.section, ready: Promise.resolve(), select: () => {}, end: () => {} };
}
