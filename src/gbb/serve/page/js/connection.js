// Whether the page is connected, said in words; what is shown stays, with the time it is from.

import { button, el } from "./dom.js";
import { announce } from "./say.js";

const pill = () => document.getElementById("link");
const bar = () => document.getElementById("lost");
let lostAt = null;

export function connected(text = "Live") {
  pill().className = "pill live";
  pill().textContent = text;
  bar().hidden = true;
  if (lostAt !== null) announce("Connected again. Nothing was missed.");
  lostAt = null;
}

export function lost(why, retry) {
  lostAt ??= new Date();
  pill().className = "pill off";
  pill().textContent = "Not connected";
  const since = lostAt.toLocaleTimeString("en-GB");
  const text = `${why} What is shown is from ${since}. The page tries again by itself.`;
  if (!bar().hidden && bar().dataset.text === text) return;
  bar().dataset.text = text;
  bar().replaceChildren(el("span", { text }), button("Try now", retry));
  bar().hidden = false;
}

export function resting(text) {
  pill().className = "pill";
  pill().textContent = text;
  bar().hidden = true;
  lostAt = null;
}
