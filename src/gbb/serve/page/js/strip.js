// The state of one controller in a line, and what somebody should look at.

import { partOf } from "./chart.js";
import { el } from "./dom.js";
import { number, whole } from "./format.js";
import { fitBadge } from "./overview.js";

export function makeStrip(model) {
  const facts = {};
  const fact = (key, text) => (
    (facts[key] = el("dd", {}, "–")),
    el("div", {}, el("dt", { text }), facts[key])
  );
  const line = el(
    "dl",
    { class: "facts" },
    fact("rounds", "Rounds told"),
    fact("last", "Last reward"),
    fact("best", "Recommended"),
    fact("most", "Upper bound"),
    fact("open", "Open trials"),
    fact("forbidden", "Forbidden"),
    fact("policy", "Policy"),
    fact("fit", "Model"),
  );
  const notes = el("div", { class: "notes" });
  const section = el(
    "section",
    { class: "strip", "aria-label": "State" },
    el("h1", { text: model.name }),
    line,
    notes,
  );

  function draw() {
    const { status, rewards, recommended: best } = model;
    const round = rewards?.rounds.at(-1);
    facts.rounds.textContent = whole(status.rounds);
    facts.rounds.dataset.value = status.rounds;
    facts.last.replaceChildren(number(round?.reward), el("span", { class: "small soft", text: partOf(round) }));
    facts.best.textContent =
      best?.reward === undefined || best.reward === null
        ? "–"
        : `${number(best.reward)} ± ${number((best.high - best.low) / 2, 2)}`;
    facts.most.textContent = number(best?.upper_bound);
    facts.open.textContent = whole(model.last?.open ?? status.open?.length);
    facts.forbidden.textContent = whole(status.forbidden);
    facts.policy.textContent = status.policy;
    if (model.diagnosis) facts.fit.replaceChildren(fitBadge(model.diagnosis));
  }

  function warn() {
    const said = (model.status.alerts ?? []).map((alert) => [
      alert.severity === "critical" ? "bad" : "warn",
      alert.text ?? String(alert),
    ]);
    const caveat = model.recommended?.caveat ?? model.played?.caveat;
    if (caveat && !said.some(([, text]) => text === caveat)) said.push(["warn", caveat]);
    for (const key of ["recommended", "played"])
      if (model.errors[key]) said.push(["warn", model.errors[key].message]);
    if (!said.length && model.diagnosis?.status === "poor") said.push(["warn", model.diagnosis.sentence]);
    const text = said.map(([, each]) => each).join("\n");
    if (notes.dataset.text === text) return;
    notes.dataset.text = text;
    notes.replaceChildren(
      ...said.map(([kind, each]) => el("p", { class: `note ${kind}`, role: "status", text: each })),
    );
  }

  model.on(["live", "status", "rewards", "recommended", "diagnosis", "network"], draw);
  model.on(["status", "recommended", "played", "diagnosis"], warn);
  draw();
  warn();
  return { section };
}
