// The network as a picture: agents by arm, links by what they pay or how little is known of them.

import { span, step } from "./colours.js";
import { Camera } from "./camera.js";
import { button, choices, el, panel, tick, unique } from "./dom.js";
import { drawNetwork, nodeSize } from "./drawing.js";
import { describe, drawLegend, held } from "./legend.js";
import { findPlaces } from "./places.js";
import { marked } from "./worst.js";

const HINT =
  "Arrow keys move, plus and minus zoom, 0 shows all, Enter opens the agent nearest to the middle. " +
  "All agents are also in the table of agents.";

export function makeGraph(model, choose) {
  const canvas = el("canvas", {
    class: "network",
    tabindex: "0",
    role: "application",
    "aria-roledescription": "network picture",
  });
  const legend = el("div", { class: "legend-row" });
  const note = el("p", { class: "small soft", hidden: true });
  const hint = el("p", {
    class: "hidden-text",
    id: unique("hint"),
    text: HINT,
  });
  canvas.setAttribute("aria-describedby", hint.id);
  const state = { agents: "played", links: "reward", worst: true };
  const scene = { network: model.network, chosen: -1, place: null };
  const camera = new Camera(canvas, () => ask());
  scene.camera = camera;
  const tools = [
    choices(
      "Agents",
      { played: "Played", recommended: "Recommended", differ: "Differ" },
      state.agents,
      (value) => {
        state.agents = value;
        model.of = value;
        refresh();
        model.paces.links();
      },
    ),
    choices("Links", { reward: "Reward", width: "Uncertainty" }, state.links, (value) => {
      state.links = value;
      refresh();
    }),
    tick("Worst links", state.worst, (value) => {
      state.worst = value;
      refresh();
    }),
  ];
  const made = panel("Network", { tools, className: "graph" });
  const zooms = el(
    "div",
    { class: "zooms" },
    button("+", () => camera.by(1.3), { "aria-label": "Zoom in" }),
    button("−", () => camera.by(0.77), { "aria-label": "Zoom out" }),
    button("All", () => whole(), { "aria-label": "Show the whole network" }),
  );
  made.body.append(el("div", { class: "stage" }, canvas, zooms), legend, note, hint);

  let drawn = 0;
  function ask() {
    if (drawn) return;
    drawn = requestAnimationFrame(() => {
      drawn = 0;
      drawNetwork(canvas, scene);
    });
  }

  const whole = () => scene.place && camera.fit(scene.place, canvas.clientWidth, canvas.clientHeight);

  function refresh() {
    scene.network = model.network;
    const best = model.recommended?.arms;
    const played = model.played?.arms;
    scene.trial = model.played?.trial;
    scene.arms = state.agents === "recommended" ? best : played;
    scene.others = state.agents === "differ" ? best : null;
    const values = model.links?.[state.links];
    const ends = values && span(values, 0.005);
    scene.levels =
      values?.length === model.network.edges.length
        ? Uint8Array.from(values, (value) => step(value, ends))
        : null;
    scene.scale = state.links === "reward" ? ["--low", "--high"] : ["--wide-low", "--wide-high"];
    scene.marked = state.worst ? marked(model) : [];
    scene.held = held(model.network);
    drawLegend(legend, model, state, scene, ends);
    explain();
    canvas.setAttribute("aria-label", describe(model, state));
    ask();
  }

  function explain() {
    const missing = state.agents !== "played" && !model.recommended;
    note.hidden = !missing;
    note.textContent = model.errors.recommended?.message ?? "The recommendation is being computed.";
  }

  async function place() {
    const network = model.network;
    const found = await findPlaces(model.name, network);
    if (network !== model.network) return;
    scene.network = network;
    const first = !scene.place || scene.place.length !== found.length;
    scene.place = found;
    if (first) whole();
    refresh();
  }

  function nearest(x, y, within) {
    let [best, far] = [-1, within];
    for (let i = 0; scene.place && i < scene.network.agents.length; i += 1) {
      const away = Math.hypot(
        camera.x + camera.zoom * scene.place[2 * i] - x,
        camera.y + camera.zoom * scene.place[2 * i + 1] - y,
      );
      if (away < far) [best, far] = [i, away];
    }
    return best;
  }

  canvas.addEventListener("click", (event) => {
    if (camera.moved > 6) return;
    const found = nearest(event.offsetX, event.offsetY, nodeSize(scene) + 10);
    if (found >= 0) choose(scene.network.agents[found]);
  });
  canvas.addEventListener("keydown", (event) => {
    if (camera.key(event)) return;
    if (event.key === "0") whole();
    if (event.key !== "Enter") return;
    const found = nearest(canvas.clientWidth / 2, canvas.clientHeight / 2, Infinity);
    if (found >= 0) choose(scene.network.agents[found]);
  });
  const sized = new ResizeObserver(() => (scene.place ? whole() : ask()));
  sized.observe(canvas);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", refresh);
  model.on(["played", "recommended", "links", "diagnosis"], refresh);
  model.on(["network"], place);
  refresh();
  const ready = place();

  return {
    section: made.section,
    ready,
    select(agent) {
      scene.chosen = model.network.agents.findIndex((each) => String(each) === String(agent));
      if (scene.place && scene.chosen >= 0 && model.network.agents.length > 60) {
        camera.centre(scene.place[2 * scene.chosen], scene.place[2 * scene.chosen + 1], camera.base * 3);
      }
      ask();
    },
    end() {
      sized.disconnect();
      dark.removeEventListener("change", refresh);
    },
  };
}
