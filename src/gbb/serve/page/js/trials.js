// Open trials with their age, counted on while nobody tells them.

import { button, el, panel, scroller, table } from "./dom.js";
import { clock, since, whole } from "./format.js";
import { keyedRows } from "./rows.js";

const MOST = 200;

export function makeTrials(model, acts) {
  const made = panel("Open trials", { flush: true, className: "trials" });
  const list = table(
    [{ text: "Trial", num: true }, { text: "Asked" }, { text: "Age", num: true }, { text: "" }],
    { caption: "Open trials" },
  );
  const none = el("p", { class: "pad soft", text: "No trial is open." });
  const region = scroller("Open trials", list.table);
  made.body.append(region, none);
  const rest = el("p", { class: "pad-small soft" });
  made.body.append(rest);
  const now = () => Date.now() / 1000;

  const fill = keyedRows(list.body, ({ trial, time }) => {
    const age = el("td", { class: "num" });
    const drop = button("Abandon", () => acts.abandon(trial), {
      class: "operates",
      "aria-label": `Abandon trial ${trial}`,
    });
    const cells = [
      el("th", { scope: "row", class: "num" }, whole(trial)),
      el("td", {}, clock(time)),
      age,
      el("td", { class: "acts" }, drop),
    ];
    return { node: el("tr", {}, cells), update: () => (age.textContent = since(time)) };
  });

  function draw() {
    const trials = Object.entries(model.status.ages ?? {}).map(([trial, age]) => ({
      trial: Number(trial),
      time: now() - age,
    }));
    made.heading.textContent = trials.length ? `Open trials (${whole(trials.length)})` : "Open trials";
    none.hidden = trials.length > 0;
    region.hidden = trials.length === 0;
    shown = trials.slice(0, MOST);
    rest.hidden = trials.length <= MOST;
    rest.textContent = `and ${whole(trials.length - MOST)} more`;
    count();
  }

  let shown = [];
  const count = () => fill(shown, ({ trial }) => trial);

  const timer = setInterval(count, 1000);
  model.on(["status"], draw);
  draw();
  return { section: made.section, end: () => clearInterval(timer) };
}
