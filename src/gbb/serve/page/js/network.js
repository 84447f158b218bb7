// One network: its panels, fed by one model.

import { connected, lost } from "./connection.js";
import { el } from "./dom.js";
import { makeActs } from "./acts.js";
import { makeAgent } from "./agent.js";
import { makeAgents } from "./agents.js";
import { makeChart } from "./chart.js";
import { makeDiagnosis } from "./diagnosis.js";
import { makeGraph } from "./graph.js";
import { makeHistory } from "./history.js";
import { makeLarge } from "./large.js";
import { makePairs } from "./pairs.js";
import { makeStrip } from "./strip.js";
import { makeTrials } from "./trials.js";
import { charts } from "./plot.js";
import { refused } from "./signin.js";

const COLUMNS = [
  ["graph", "agents", "diagnosis"],
  ["chart", "agent", "pairs", "trials"],
];
const PLACES = [
  ["graph", "Network"],
  ["chart", "Rewards"],
  ["agent", "Agent"],
  ["pairs", "Pairs"],
  ["trials", "Trials"],
  ["history", "History"],
];

export async function showNetwork(main, model) {
  await charts;
  const acts = makeActs(model);
  const parts = {};

  function choose(agent) {
    parts.graph.select(agent);
    parts.agent.show(agent);
    if (matchMedia("(max-width: 900px)").matches) parts.agent.section.scrollIntoView({ block: "start" });
  }

  parts.strip = makeStrip(model);
  parts.graph = (model.large ? makeLarge : makeGraph)(model, choose);
  parts.chart = makeChart(model);
  parts.agent = makeAgent(model, acts, choose);
  parts.pairs = makePairs(model);
  parts.diagnosis = makeDiagnosis(model, choose);
  parts.trials = makeTrials(model, acts);
  parts.agents = makeAgents(model, choose);
  parts.history = makeHistory(model, acts);
  const jump = ([key, text]) =>
    el(
      "button",
      {
        type: "button",
        class: "quiet",
        on: { click: () => parts[key].section.scrollIntoView({ block: "start" }) },
      },
      text,
    );
  main.replaceChildren(
    parts.strip.section,
    el("nav", { class: "jumps", "aria-label": "Parts of this page" }, PLACES.map(jump)),
    el(
      "div",
      { class: "columns" },
      COLUMNS.map((keys) =>
        el(
          "div",
          { class: "column" },
          keys.map((key) => parts[key].section),
        ),
      ),
    ),
    parts.history.section,
  );
  parts.chart.draw();
  follow(model);
  performance.mark("gbb-shown");
  model.read("played").catch(() => {});
  parts.graph.ready.then(() => model.rest());
  parts.agents.start();
  parts.history.start();
  return () => {
    model.stop();
    for (const part of Object.values(parts)) part.end?.();
  };
}

// The stream says whether the page is connected; after a gap everything is read again.
function follow(model) {
  connected();
  const { live, large } = model;
  model.on(["network"], () => model.large !== large && again());
  live.addEventListener("open", ({ detail }) => {
    connected();
    if (detail.again)
      for (const [key, pace] of Object.entries(model.paces)) if (key !== "fit" || model.judges) pace();
  });
  live.addEventListener("lost", ({ detail }) => lost(detail.why, () => live.retry()));
  live.addEventListener("refused", ({ detail }) => refused(detail) || lost(detail.message, again));
}

const again = () => window.dispatchEvent(new Event("hashchange"));
