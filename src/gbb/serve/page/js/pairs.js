// What each pair of arms pays, with the half-width of its interval, for each type of link.

import { css, inkOn, mix, share, span } from "./colours.js";
import { choices, el, panel, scroller, table } from "./dom.js";
import { number, whole } from "./format.js";
import { swatch } from "./legend.js";

const MOST = 16; // arms of a table; beyond, a list of the pairs that stand out
const ROWS = 30;

export function makePairs(model) {
  const state = { type: 0, by: "table", names: "" };
  const types = el("div");
  const by = choices("Colour", { table: "Reward", table_width: "Uncertainty" }, state.by, (value) => {
    state.by = value;
    draw();
  });
  const made = panel("What each pair of arms pays", { tools: [types, by], className: "pairs" });
  const place = el("div");
  const note = el("p", { class: "small soft under" });
  made.body.append(place, note);

  function chooseTypes(estimates) {
    const names = estimates.map((each) => each.matrix ?? `Type ${each.edge_type}`);
    if (names.join() === state.names) return;
    state.names = names.join();
    types.hidden = names.length < 2;
    const select = el(
      "select",
      { "aria-label": "Type of link" },
      names.map((name, at) => el("option", { value: at }, name)),
    );
    select.value = state.type;
    select.addEventListener("change", () => {
      state.type = Number(select.value);
      draw();
    });
    types.replaceChildren(select);
  }

  function draw() {
    const estimates = model.estimate?.estimates;
    if (!estimates) {
      place.replaceChildren(
        el("p", { class: "soft", text: model.errors.estimate?.message ?? "The estimate is being read." }),
      );
      return;
    }
    chooseTypes(estimates);
    const one = estimates[Math.min(state.type, estimates.length - 1)];
    const names = model.network?.arms ?? one.table.map((_, i) => String(i));
    place.replaceChildren(names.length <= MOST ? heat(one, names, state.by) : listed(one, names));
    const seen = one.N ? " Times seen below." : "";
    note.textContent = `Estimated reward of a directed edge from the row's arm to the column's, ± half-width.${seen}`;
  }

  model.on(["estimate", "network"], draw);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", draw);
  draw();
  return { section: made.section, end: () => dark.removeEventListener("change", draw) };
}

function heat(one, names, by) {
  const values = one[by];
  const ends = span(values.flat());
  const [low, high] =
    by === "table"
      ? [css("--heat-low"), css("--heat-high")]
      : [css("--wide-heat-low"), css("--wide-heat-high")];
  const head = el(
    "tr",
    {},
    el("td", { class: "corner" }),
    names.map((name, b) => el("th", { scope: "col" }, swatch(b), name)),
  );
  const rows = names.map((name, a) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, swatch(a), name),
      names.map((_, b) => {
        const cell = el(
          "td",
          { class: "heat num" },
          el("b", { text: number(one.table[a][b]) }),
          el("span", { text: `± ${number(one.table_width[a][b], 2)}` }),
          one.N && el("span", { class: "seen", text: `${whole(one.N[a][b])}×` }),
        );
        const colour = mix(low, high, share(values[a][b], ends));
        cell.style.backgroundColor = colour;
        cell.style.color = inkOn(colour);
        return cell;
      }),
    ),
  );
  const title = el("caption", { class: "hidden-text", text: "Estimated reward by the arms of a link" });
  return scroller(
    "What each pair of arms pays",
    el("table", { class: "heats" }, title, el("thead", {}, head), el("tbody", {}, rows)),
  );
}

// Of many arms: the pairs that pay most, and those of which least is known.
function listed(one, names) {
  const all = names.flatMap((_, a) =>
    names.map((__, b) => ({
      a,
      b,
      reward: one.table[a][b],
      width: one.table_width[a][b],
      seen: one.N?.[a][b],
    })),
  );
  const best = all.toSorted((x, y) => y.reward - x.reward).slice(0, ROWS);
  const { table: node, body } = table(
    [
      { text: "From" },
      { text: "To" },
      { text: "Reward", num: true },
      { text: "±", num: true },
      { text: "Seen", num: true },
    ],
    { caption: "The pairs that pay most" },
  );
  for (const { a, b, reward, width, seen } of best) {
    body.append(
      el(
        "tr",
        {},
        el("td", {}, swatch(a), names[a]),
        el("td", {}, swatch(b), names[b]),
        el("td", { class: "num" }, number(reward)),
        el("td", { class: "num" }, number(width, 2)),
        el("td", { class: "num" }, whole(seen)),
      ),
    );
  }
  return el(
    "div",
    {},
    el("p", { class: "soft", text: `The ${ROWS} pairs of ${whole(all.length)} that pay most.` }),
    scroller("The pairs that pay most", node),
  );
}
