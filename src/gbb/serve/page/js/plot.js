// How the chart of rewards looks: axes, colours and lines, in the colours of light or dark.

import { css } from "./colours.js";
import { number } from "./format.js";

export const HIGH = 230;
const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 1e4, 1e5, 1e6]; // rounds have no halves
const FONT = "12px system-ui, sans-serif";

// The library of charts is a script of its own, which may come after the modules.
export const charts = window.uPlot
  ? Promise.resolve()
  : new Promise((done) => document.getElementById("uplot").addEventListener("load", done));

export function options(wide, pointed) {
  const grid = { stroke: css("--line"), width: 1 };
  const axis = { stroke: css("--soft"), grid, ticks: grid, font: FONT };
  return {
    width: wide,
    height: HIGH,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { size: 7 } },
    scales: { x: { time: false }, y: { range: (_, low, high) => room(low, high) } },
    axes: [
      { ...axis, size: 30, incrs: WHOLE },
      {
        ...axis,
        size: (_, values) => 18 + 7 * Math.max(3, ...(values ?? []).map((text) => text.length)),
        values: (_, values) => values.map((value) => number(value, 3)),
      },
    ],
    bands: [{ series: [5, 4], fill: `${css("--accent")}1f` }],
    hooks: { setCursor: [(plot) => pointed(plot.cursor.idx)] },
    series: [{}, ...series()],
  };
}

function series() {
  const [edge, accent] = [css("--edge"), css("--accent")];
  const points = { show: false };
  return [
    { stroke: `${edge}99`, width: 1, spanGaps: true, points: { show: true, size: 4, fill: edge, stroke: edge } },
    { stroke: accent, width: 2.5, points },
    { stroke: css("--good"), width: 2, dash: [8, 4], points },
    { stroke: `${accent}66`, width: 1, points },
    { stroke: `${accent}66`, width: 1, points },
    { stroke: css("--warn"), width: 2, dash: [2, 4], points },
    { width: 0, points: { show: true, size: 5, fill: css("--panel"), stroke: edge } },
  ];
}

function room(low, high) {
  if (low === null || high === null) return [0, 1];
  const pad = 0.06 * (high - low) || Math.abs(high) || 1;
  return [low - pad, high + pad];
}
