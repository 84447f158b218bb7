// One picture of a network on a canvas: links by colour, agents by arm, labels where there is room.

import { armColour, armShape, css, inkOn, ramp, STEPS } from "./colours.js";

export function drawNetwork(canvas, scene) {
  const pen = canvas.getContext("2d");
  const dense = window.devicePixelRatio || 1;
  const [wide, high] = [canvas.clientWidth, canvas.clientHeight];
  if (canvas.width !== Math.round(wide * dense) || canvas.height !== Math.round(high * dense)) {
    canvas.width = Math.round(wide * dense);
    canvas.height = Math.round(high * dense);
  }
  pen.setTransform(dense, 0, 0, dense, 0, 0);
  pen.clearRect(0, 0, wide, high);
  if (!scene.place) return;
  const { camera, place } = scene;
  const xs = new Float64Array(place.length / 2);
  const ys = new Float64Array(place.length / 2);
  for (let i = 0; i < xs.length; i += 1) {
    xs[i] = camera.x + camera.zoom * place[2 * i];
    ys[i] = camera.y + camera.zoom * place[2 * i + 1];
  }
  const view = { pen, xs, ys, wide, high, size: nodeSize(scene) };
  drawLinks(view, scene);
  drawMarked(view, scene);
  drawAgents(view, scene);
  drawLabels(view, scene);
  canvas.dataset.trial = scene.trial ?? "";
}

export const nodeSize = ({ camera, network }) =>
  Math.max(
    1.6,
    Math.min(
      15,
      camera.zoom * 0.24,
      (130 / Math.sqrt(network.agents.length)) * (camera.zoom / (camera.base || 1)),
    ),
  );

function drawLinks({ pen, xs, ys, size }, { network, levels, scale }) {
  const colours = levels ? ramp(...scale.map(css)) : [css("--line")];
  const crowd = network.edges.length / 1500; // many links are drawn fainter, so that agents stand out
  pen.globalAlpha = Math.min(1, Math.max(0.35, size / 8, 1 / crowd));
  // Lines of one pixel are painted ten times faster than wider ones.
  const widest = crowd > 1 ? 1 / (window.devicePixelRatio || 1) : 5;
  const buckets = Array.from({ length: STEPS }, () => []);
  network.edges.forEach((edge, at) => buckets[levels ? levels[at] : 0].push(edge));
  buckets.forEach((edges, level) => {
    if (!edges.length) return;
    pen.strokeStyle = colours[level] ?? colours[0];
    const wide = size * (0.16 + (levels ? (0.34 * level) / STEPS : 0.1));
    pen.lineWidth = Math.min(widest, Math.max(0.6, wide));
    pen.beginPath();
    for (const [i, j] of edges) {
      pen.moveTo(xs[i], ys[i]);
      pen.lineTo(xs[j], ys[j]);
    }
    pen.stroke();
  });
  pen.globalAlpha = 1;
}

function drawMarked({ pen, xs, ys, size }, { network, marked }) {
  if (!marked?.length) return;
  pen.strokeStyle = css("--mark");
  pen.lineWidth = Math.max(2, size * 0.45);
  pen.setLineDash([6, 4]);
  pen.beginPath();
  for (const at of marked) {
    const [i, j] = network.edges[at];
    pen.moveTo(xs[i], ys[i]);
    pen.lineTo(xs[j], ys[j]);
  }
  pen.stroke();
  pen.setLineDash([]);
}

function trace(pen, shape, x, y, size) {
  pen.beginPath();
  if (shape === "circle") pen.arc(x, y, size, 0, 2 * Math.PI);
  else if (shape === "square") pen.rect(x - size * 0.9, y - size * 0.9, size * 1.8, size * 1.8);
  else if (shape === "triangle")
    corners(
      pen,
      x,
      y,
      [
        [0, -1.2],
        [1.1, 0.8],
        [-1.1, 0.8],
      ],
      size,
    );
  else
    corners(
      pen,
      x,
      y,
      [
        [0, -1.2],
        [1.2, 0],
        [0, 1.2],
        [-1.2, 0],
      ],
      size,
    );
}

function corners(pen, x, y, points, size) {
  points.forEach(([a, b], at) => pen[at ? "lineTo" : "moveTo"](x + a * size, y + b * size));
  pen.closePath();
}

function drawAgents({ pen, xs, ys, wide, high, size }, { arms, others, chosen, held }) {
  const [panel, soft, ink] = [css("--panel"), css("--edge"), css("--ink")];
  for (let i = 0; i < xs.length; i += 1) {
    const [x, y] = [xs[i], ys[i]];
    if (x < -20 || y < -20 || x > wide + 20 || y > high + 20) continue;
    const arm = arms?.[i] ?? -1;
    const differs = others && others[i] !== arm;
    trace(pen, armShape(Math.max(0, arm)), x, y, differs ? size * 1.25 : size);
    pen.fillStyle = arm < 0 || (others && !differs) ? soft : armColour(arm);
    pen.fill();
    if (differs) {
      pen.save();
      pen.clip();
      pen.fillStyle = armColour(others[i]);
      pen.fillRect(x, y - 2 * size, 2 * size, 4 * size);
      pen.restore();
    }
    pen.lineWidth = i === chosen ? Math.max(3, size * 0.3) : size > 4 ? 1.5 : 0.7;
    pen.strokeStyle = i === chosen || held?.has(i) ? ink : panel;
    if (held?.has(i) && i !== chosen) pen.setLineDash([3, 2]);
    pen.stroke();
    pen.setLineDash([]);
  }
}

function drawLabels({ pen, xs, ys, wide, high, size }, { network, arms, others, chosen }) {
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  const seen = [...xs.keys()].filter((i) => xs[i] > 0 && ys[i] > 0 && xs[i] < wide && ys[i] < high);
  if (size >= 8 && arms && !others) {
    pen.font = `600 ${Math.round(size * 0.95)}px system-ui, sans-serif`;
    for (const i of seen) {
      if (arms[i] < 0) continue;
      pen.fillStyle = inkOn(armColour(arms[i]));
      pen.fillText(String(arms[i] + 1), xs[i], ys[i] + 0.5);
    }
  }
  const named = size >= 7 && seen.length <= 120 ? seen : chosen >= 0 ? [chosen] : [];
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "top";
  pen.lineWidth = 5; // so that links do not run through names
  pen.lineJoin = "round";
  pen.strokeStyle = css("--panel");
  pen.fillStyle = css("--ink");
  for (const i of named) {
    const name = short(String(network.agents[i]));
    pen.strokeText(name, xs[i], ys[i] + size * 1.25 + 2);
    pen.fillText(name, xs[i], ys[i] + size * 1.25 + 2);
  }
}

// A name that does not cover its neighbours.
const short = (name) => (name.length > 24 ? `${name.slice(0, 23)}…` : name);
