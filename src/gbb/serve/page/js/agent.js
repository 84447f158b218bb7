// One agent: what the network would pay with each of its arms, and what may be done about it.

import { get, path, query } from "./api.js";
import { button, el, panel, scroller, table } from "./dom.js";
import { count, number } from "./format.js";
import { paced } from "./pace.js";
import { keyedRows } from "./rows.js";
import { swatch } from "./legend.js";

export function makeAgent(model, acts, choose) {
  const made = panel("Agent", { className: "agent" });
  const hint = el("p", {
    class: "soft",
    text: "Choose an agent, on the picture or in the table of agents, to see what its options would pay.",
  });
  made.body.append(hint);
  let [agent, asked] = [null, 0];

  async function read() {
    if (agent === null) return;
    const here = (asked += 1);
    try {
      const found = await get(
        path(model.name, "agents", agent) +
          query({ of: model.of === "recommended" ? "recommended" : "played" }),
      );
      if (here === asked) draw(found);
    } catch (error) {
      if (error.status === 0) throw error;
      made.body.replaceChildren(el("p", { class: "note bad", text: error.message }));
    }
  }

  const { table: node, body } = table(
    [{ text: "Arm" }, { text: "Network pays", num: true }, { text: "Interval" }, { text: "" }],
    { caption: "Options of the agent" },
  );
  const near = el("p");
  const words = el("p", { class: "small soft" });
  const all = el(
    "p",
    { class: "under operates" },
    button("Allow every arm", () => acts.allow(agent)),
  );
  const region = scroller("Options of the agent", node);
  const fill = keyedRows(body, makeRow);

  function draw({ agent: label, neighbours, neighbour_names: names = [], options }) {
    agent = label; // a number where agents have no names
    made.heading.textContent = `Agent ${agent}`;
    const ends = [
      Math.min(...options.map(({ low }) => low ?? 0)),
      Math.max(...options.map(({ high }) => high ?? 0)),
    ];
    const best = Math.max(...options.map(({ reward }) => reward ?? -Infinity));
    fill(
      options.map((option, at) => ({ ...option, at, ends, best: option.reward === best })),
      ({ arm, allowed }) => `${agent} ${arm} ${allowed}`,
    );
    const links = names
      .slice(0, 12)
      .flatMap((other, i) => [i ? ", " : "", button(String(other), () => choose(other), { class: "link" })]);
    if (near.dataset.of !== `${agent} ${names}`)
      near.replaceChildren(`${count(neighbours, "neighbour")}: `, ...links, neighbours > 12 ? " …" : "");
    near.dataset.of = `${agent} ${names}`;
    const others = model.of === "recommended" ? "recommended" : "played";
    words.textContent = `Predicted reward of the whole network with this arm changed and all others as ${others}.`;
    all.hidden = options.every((option) => option.allowed);
    if (!near.isConnected) made.body.replaceChildren(near, words, region, all);
  }

  function makeRow({ arm, at, allowed }) {
    const [marks, pays, within] = [el("span"), el("td", { class: "num" }), el("td")];
    const act = (text, what, done) =>
      button(text, done, { class: "operates", "aria-label": `${what} ${arm} for ${agent}` });
    const tools = allowed
      ? [
          act("Forbid", "Forbid", () => acts.forbid(agent, arm)),
          act("Pin", "Pin", () => acts.pin(agent, arm)),
        ]
      : [act("Allow", "Allow", () => acts.allow(agent, arm))];
    const badge = (kind, text) => [el("span", { class: `badge ${kind}`, text }), " "];
    return {
      node: el(
        "tr",
        {},
        el("th", { scope: "row" }, swatch(at), String(arm), " ", marks),
        pays,
        within,
        el("td", { class: "acts" }, tools),
      ),
      update({ reward, low, high, now, best, ends }) {
        marks.replaceChildren(
          ...(now ? badge("soft", "now") : []),
          ...(best ? badge("good", "best") : []),
          ...(allowed ? [] : badge("bad", "forbidden")),
        );
        pays.textContent = number(reward);
        within.replaceChildren(interval(low, high, reward, ends));
      },
    };
  }

  const fresh = paced(read, 300, 2, 150);
  model.on(["played", "recommended", "network"], fresh);
  return {
    section: made.section,
    show(next) {
      agent = next;
      made.heading.textContent = `Agent ${agent}`;
      return read().catch(() => {});
    },
    end: fresh.end,
  };
}

function interval(low, high, reward, [left, right]) {
  if (low === null) return el("span", { class: "soft", text: "not known" });
  const at = (value) => `${(100 * (value - left)) / (right - left || 1)}%`;
  const bar = el("i", { style: { left: at(low), width: `${(100 * (high - low)) / (right - left || 1)}%` } });
  const dot = el("b", { style: { left: at(reward) } });
  return el(
    "div",
    { class: "interval", title: `${number(low)} to ${number(high)}` },
    bar,
    dot,
    el("span", { class: "hidden-text", text: `${number(low)} to ${number(high)}` }),
  );
}
