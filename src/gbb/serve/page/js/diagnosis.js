// Whether the model fits, in its plain sentence, with the links that it predicts worst.

import { button, el, panel, scroller, table } from "./dom.js";
import { number, percent, whole } from "./format.js";
import { fitBadge } from "./overview.js";
import { complain } from "./say.js";
import { ends } from "./worst.js";

export function makeDiagnosis(model, choose) {
  const made = panel("Does the model fit?", { className: "diagnosis" });
  let asked = false;

  function row({ where, count, mean, sd, within }) {
    const agent = ends(where)[0]?.[0] ?? where;
    const shown = where.replaceAll(" -> ", " → ");
    const link = button(shown, () => choose(agent), { class: "link", title: `Show ${agent}` });
    return el(
      "tr",
      {},
      el("td", {}, link),
      ...[whole(count), number(mean, 2), number(sd, 2), percent(within)].map((text) =>
        el("td", { class: "num", text }),
      ),
    );
  }

  function draw() {
    const found = model.diagnosis;
    if (!found) {
      const waits = model.heavy && !asked;
      const words = !model.status.rounds
        ? "No round was told yet."
        : waits
          ? "Judging so many rewards may take a while."
          : "The rounds are being judged.";
      const judge = button("Judge the rounds", () => {
        asked = true;
        draw();
        model.read("diagnosis").catch(complain);
      });
      made.body.replaceChildren(
        el("p", { class: "soft", text: model.errors.diagnosis?.message ?? words }),
        waits ? judge : "",
      );
      return;
    }
    const { table: node, body } = table(
      [
        { text: "Worst predicted" },
        { text: "Rounds", num: true },
        { text: "Mean error", num: true },
        { text: "Spread", num: true },
        { text: "Explained", num: true },
      ],
      { caption: "Links that the model predicts worst" },
    );
    body.append(...(found.worst ?? []).slice(0, 6).map(row));
    made.body.replaceChildren(
      el("p", {}, fitBadge(found), " ", found.sentence),
      found.worst?.length ? scroller("Links that the model predicts worst", node) : "",
    );
  }

  const waiting = () => `${model.status.rounds > 0} ${model.heavy}`;
  let drawn = waiting();
  model.on(["diagnosis"], draw);
  model.on(["status"], () => {
    if (!model.diagnosis && waiting() !== drawn) draw();
    drawn = waiting();
  });
  draw();
  return { section: made.section };
}
