// Colours that people with any colour vision tell apart (Okabe and Ito), with shapes beyond eight
// arms; and scales from faint to strong, whose lightness alone says enough.

const ARMS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#8c8c8c"];
export const SHAPES = ["circle", "square", "triangle", "diamond"];
export const STEPS = 12;

export const armColour = (arm) => ARMS[arm % ARMS.length];
export const armShape = (arm) => SHAPES[Math.floor(arm / ARMS.length) % SHAPES.length];

export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function channels(hex) {
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
}

export function mix(from, to, share) {
  const [a, b] = [channels(from), channels(to)];
  return `#${a
    .map((x, i) =>
      Math.round(x + (b[i] - x) * share)
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`;
}

export function ramp(low, high) {
  return Array.from({ length: STEPS }, (_, i) => mix(low, high, i / (STEPS - 1)));
}

function light(hex) {
  const [r, g, b] = channels(hex).map((x) =>
    x / 255 <= 0.04045 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

// Black or white, whichever is read better on a colour.
export const inkOn = (hex) => (light(hex) > 0.179 ? "#000000" : "#ffffff");

// The least and the most; one number where they are as good as the same.
export function span(values, same = 0) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (!(low <= high)) return [0, 0];
  return high - low <= same * Math.max(Math.abs(low), Math.abs(high)) ? [high, high] : [low, high];
}

export const share = (value, [low, high]) =>
  high > low ? Math.min(1, Math.max(0, (value - low) / (high - low))) : 0.5;
export const step = (value, ends) => Math.min(STEPS - 1, Math.floor(share(value, ends) * STEPS));
