// What the page says: toasts that can be undone, and a line for screen readers.

import { button, el } from "./dom.js";

const STAY = 12000;

export function announce(text) {
  const place = document.getElementById("said");
  place.textContent = "";
  requestAnimationFrame(() => (place.textContent = text));
}

export function toast(text, { kind = "good", undo } = {}) {
  const close = () => card.remove();
  const back =
    undo &&
    button("Undo", () => {
      close();
      undo();
    });
  const card = el(
    "div",
    { class: `toast ${kind}`, role: kind === "bad" ? "alert" : null },
    el("p", { text }),
    back,
    button("×", close, { class: "quiet", "aria-label": "Close this message" }),
  );
  document.getElementById("toasts").append(card);
  if (kind !== "bad") announce(undo ? `${text} It can be undone.` : text);
  let timer = setTimeout(close, STAY);
  card.addEventListener("pointerenter", () => clearTimeout(timer));
  card.addEventListener("focusin", () => clearTimeout(timer));
  card.addEventListener("pointerleave", () => (timer = setTimeout(close, STAY)));
}

export const complain = (error) => toast(error.message, { kind: "bad" });
