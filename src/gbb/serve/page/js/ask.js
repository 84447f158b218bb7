// Asks before something is done: what will happen, and whether it can be undone.

import { button, el, unique } from "./dom.js";

export function ask({ title, says, undo, act, reason = false, number: label = null }) {
  return new Promise((done) => {
    const id = unique("ask");
    const why = reason && el("input", { type: "text", maxlength: "200" });
    const factor =
      label && el("input", { type: "number", min: "0", max: "1", step: "any", required: true, value: "0.5" });
    let answer = null;
    const yes = (event) => {
      event.preventDefault();
      answer = { text: why ? why.value : "", number: factor ? Number(factor.value) : null };
      dialog.close();
    };
    const form = el(
      "form",
      { method: "dialog", on: { submit: yes } },
      el("h2", { id, text: title }),
      el("p", { id: `${id}-says`, text: says }),
      el("p", { class: "soft", text: undo ? `It can be undone, by ${undo}.` : "It cannot be undone." }),
      why && el("label", { class: "field" }, el("span", { text: "Reason (may be left out)" }), why),
      factor && el("label", { class: "field" }, el("span", { text: label }), factor),
      el(
        "div",
        { class: "row" },
        button("Cancel", () => dialog.close()),
        el("button", { class: "main", text: act }),
      ),
    );
    const dialog = el("dialog", { "aria-labelledby": id, "aria-describedby": `${id}-says` }, form);
    dialog.addEventListener("close", () => {
      dialog.remove();
      done(answer);
    });
    document.body.append(dialog);
    dialog.showModal();
    (why || factor || form.querySelector("button.main")).focus();
  });
}
