// The page: what the address says is shown.

import { resting } from "./connection.js";
import { el } from "./dom.js";
import { askToken, refused } from "./signin.js";

const VIEWS = {
  "": async (main) => (await import("./overview.js")).showOverview(main),
  new: async (main) => (await import("./create.js")).showCreate(main),
  c: showNetwork,
};

// What the network's page shows is asked for while the page's own files still come.
async function showNetwork(main, name) {
  const { Model } = await import("./model.js");
  const model = new Model(name);
  const [view] = await Promise.all([import("./network.js"), model.start()]);
  return view.showNetwork(main, model);
}

let leave = () => {};
let visit = 0;

// A part of the address; one that is no encoding stands for itself.
function plain(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

async function show() {
  if (location.hash && !location.hash.startsWith("#/")) return; // a place on the page
  const here = (visit += 1);
  const [kind, name] = location.hash.slice(2).split("/").map(plain);
  const main = document.getElementById("main");
  leave();
  leave = () => {};
  document.getElementById("crumb").textContent = name
    ? `/ ${name}`
    : kind === "new"
      ? "/ new controller"
      : "";
  document.title = name ? `${name} · gbb` : "gbb";
  try {
    const end = await (VIEWS[kind ?? ""] ?? VIEWS[""])(main, name);
    if (here !== visit) return end();
    leave = end;
  } catch (error) {
    if (here !== visit) return;
    fail(main, error);
  }
}

function fail(main, error) {
  resting("Not connected");
  const again = el("button", { type: "button", on: { click: show } }, "Try again");
  main.replaceChildren(
    el("div", { class: "pad" }, el("p", { class: "note bad", role: "alert", text: error.message }), again),
  );
  refused(error);
}

document.getElementById("token").addEventListener("click", () => askToken());
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  document.getElementById("main").focus();
});
window.addEventListener("hashchange", show);
show();
