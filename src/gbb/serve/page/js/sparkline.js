// A small line of the last rewards.

const SVG = "http://www.w3.org/2000/svg";
const WIDE = 120;
const HIGH = 22;

export function sparkline(values) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${WIDE} ${HIGH}`);
  svg.setAttribute("class", "spark");
  svg.setAttribute("aria-hidden", "true");
  if (values.length < 2) return svg;
  const low = Math.min(...values);
  const span = Math.max(...values) - low || 1;
  const points = values.map((value, i) => {
    const x = 1 + ((WIDE - 2) * i) / (values.length - 1);
    return `${x.toFixed(1)},${(HIGH - 2 - ((HIGH - 4) * (value - low)) / span).toFixed(1)}`;
  });
  const line = document.createElementNS(SVG, "polyline");
  line.setAttribute("points", points.join(" "));
  svg.append(line);
  return svg;
}
