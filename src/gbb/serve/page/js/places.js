// Positions of a network: those of its file, those kept from before, or a layout made now and kept.

import { layout } from "./layout.js";

const KEPT = 8;

export async function findPlaces(name, network) {
  const n = network.agents.length;
  if (network.positions) return turn(Float64Array.from(network.positions.flat()), network.edges);
  const before = read(name);
  const print = fingerprint(network);
  if (before && before.print === print && before.place.length === 2 * n)
    return Float64Array.from(before.place);
  const place = frame(await compute(n, network.edges, warm(before, network)));
  write(name, {
    print,
    agents: network.agents,
    place: Array.from(place, (x) => Math.round(1000 * x) / 1000),
  });
  return place;
}

// Files have y upwards, a screen downwards, and any unit: a link is made one long, as in a layout.
function turn(place, edges) {
  const long = edges
    .map(([i, j]) => Math.hypot(place[2 * i] - place[2 * j], place[2 * i + 1] - place[2 * j + 1]))
    .sort((a, b) => a - b);
  const unit = long[long.length >> 1] || 1;
  return place.map((x, at) => (at % 2 ? -x : x) / unit);
}

function compute(n, edges, start) {
  return new Promise((done, fail) => {
    const worker = new Worker(new URL("./layout-worker.js", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }) => {
      done(data);
      worker.terminate();
    });
    worker.addEventListener("error", fail);
    worker.postMessage({ n, edges, start });
  }).catch(() => layout(n, edges, start)); // here, where no worker starts
}

// After a change of the graph, agents who stay keep their places.
function warm(before, { agents, edges }) {
  if (!before) return null;
  const old = new Map(before.agents.map((agent, i) => [agent, i]));
  const known = agents.map((agent) => old.get(agent));
  if (known.filter((i) => i !== undefined).length < 0.7 * agents.length) return null;
  const start = Float64Array.from(
    { length: 2 * agents.length },
    (_, at) => before.place[2 * (known[at >> 1] ?? -1) + (at % 2)] ?? NaN,
  );
  for (const [i, j] of [...edges, ...edges.map(([a, b]) => [b, a])]) {
    if (!Number.isNaN(start[2 * i]) || Number.isNaN(start[2 * j])) continue;
    start[2 * i] = start[2 * j] + 0.5;
    start[2 * i + 1] = start[2 * j + 1] + 0.3;
  }
  return start.map((x, at) => (Number.isNaN(x) ? (at % 7) / 7 : x));
}

// Turned so that the longer side lies across: screens are wide.
function frame(place) {
  let [xx, yy, xy, mx, my] = [0, 0, 0, 0, 0];
  const n = place.length / 2;
  for (let i = 0; i < n; i += 1) {
    mx += place[2 * i] / n;
    my += place[2 * i + 1] / n;
  }
  for (let i = 0; i < n; i += 1) {
    const [x, y] = [place[2 * i] - mx, place[2 * i + 1] - my];
    xx += x * x;
    yy += y * y;
    xy += x * y;
  }
  const angle = 0.5 * Math.atan2(2 * xy, xx - yy);
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  return place.map((_, at) => {
    const [x, y] = [place[at & ~1] - mx, place[at | 1] - my];
    return at % 2 ? -s * x + c * y : c * x + s * y;
  });
}

function fingerprint({ agents, edges }) {
  let hash = 2166136261;
  for (const value of [...agents.map((agent) => String(agent).length), ...edges.flat()])
    hash = Math.imul(hash ^ value, 16777619);
  return `${agents.length}-${edges.length}-${hash >>> 0}`;
}

const key = (name) => `gbb-places:${name}`;

function read(name) {
  try {
    return JSON.parse(localStorage.getItem(key(name)));
  } catch {
    return null;
  }
}

function write(name, entry) {
  try {
    const held = Object.keys(localStorage).filter((each) => each.startsWith("gbb-places:"));
    if (held.length >= KEPT && !held.includes(key(name))) localStorage.removeItem(held[0]);
    localStorage.setItem(key(name), JSON.stringify(entry));
  } catch {
    // A full store costs the layout's time again, nothing else.
  }
}
