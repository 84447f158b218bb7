// What the picture of a network says, in words and in keys.

import { armColour, armShape } from "./colours.js";
import { el } from "./dom.js";
import { count, number } from "./format.js";

// Agents that may not play all arms.
export function held({ agents, forbidden }) {
  const names = new Set(Object.keys(forbidden ?? {}));
  return new Set(agents.flatMap((agent, i) => (names.has(String(agent)) ? [i] : [])));
}

export function describe(model, state) {
  const { agents, edges, arms } = model.network;
  const of = state.agents === "recommended" ? model.recommended : model.played;
  const counts = of?.counts?.map((many, arm) => `${many} at ${arms[arm]}`).join(", ");
  const said = state.agents === "recommended" ? "Recommended" : "Played";
  const sizes = `${count(agents.length, "agent")} and ${count(edges.length, "link")}.`;
  return counts ? `${sizes} ${said}: ${counts}.` : sizes;
}

export function drawLegend(place, model, state, scene, ends) {
  const { arms } = model.network;
  const of = state.agents === "recommended" ? model.recommended : model.played;
  const items = arms
    .slice(0, 32)
    .map((arm, at) =>
      el(
        "span",
        { class: "key" },
        swatch(at),
        `${at + 1} ${arm}`,
        el("span", { class: "soft", text: of?.counts ? ` ${of.counts[at]}` : "" }),
      ),
    );
  if (arms.length > 32) items.push(el("span", { class: "soft", text: `and ${arms.length - 32} more` }));
  if (scene.others && scene.arms) {
    const differ = scene.arms.filter((arm, i) => arm !== scene.others[i]).length;
    items.push(
      el("strong", {
        text: differ
          ? `${count(differ, "agent")} differ: left half played, right half recommended.`
          : "Played and recommended are the same.",
      }),
    );
  }
  if (scene.held.size)
    items.push(el("span", { class: "key" }, el("i", { class: "swatch held" }), "not all arms allowed"));
  if (scene.marked.length)
    items.push(el("span", { class: "key" }, el("i", { class: "swatch worst" }), "worst predicted"));
  if (ends) {
    const name = state.links === "reward" ? "link pays" : "half-width";
    items.push(
      ends[0] === ends[1]
        ? el("span", {
            text:
              state.links === "reward"
                ? `every link pays ${number(ends[0])}`
                : `every half-width is ${number(ends[0])}`,
          })
        : el(
            "span",
            { class: "key" },
            `${name} ${number(ends[0])}`,
            el("i", { class: `scale ${state.links}` }),
            number(ends[1]),
          ),
    );
  }
  place.replaceChildren(...items);
}

export function swatch(arm) {
  const mark = el("i", { class: `swatch ${armShape(arm)}`, "aria-hidden": "true" });
  mark.style.backgroundColor = armColour(arm);
  return mark;
}
