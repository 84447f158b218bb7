// Reward per round, live: points, a moving average, and what the recommendation is predicted to pay,
// with its interval and the proven upper bound. A round of which rewards are missing is a hollow point.

import { el, panel, pick, tick } from "./dom.js";
import { number, whole } from "./format.js";
import { HIGH, options } from "./plot.js";

export const isPart = (round) => Boolean(round) && round.told < round.of;

// What was told of a round whose rewards did not all come.
export const partOf = (round) =>
  isPart(round) ? ` (${whole(round.told)} of ${whole(round.of)} rewards)` : "";

// The mean of the rewards of the last rounds, times how many a round has: what is missing counts as the
// mean of what was told, so that a round of which little was told does not pull the line down.
export function average(rounds, window) {
  let [sum, told] = [0, 0];
  return rounds.map((round, i) => {
    const old = rounds[i - window];
    sum += round.reward - (old?.reward ?? 0);
    told += round.told - (old?.told ?? 0);
    return (sum / told) * round.of;
  });
}

export function makeChart(model) {
  const state = { window: 20, bound: null, shown: 500 };
  const set = (key) => (value) => {
    state[key] = value;
    draw();
  };
  const bound = tick("Upper bound", false, set("bound"));
  const tools = [
    pick("Moving average", [5, 20, 100], 20, (many) => `${many}-round average`, set("window")),
    pick("Rounds shown", [100, 500, 2000], 500, (many) => `Last ${whole(many)} rounds`, set("shown")),
  ];
  const made = panel("Reward per round", { tools, className: "chart" });
  const stage = el("div", { class: "plot", role: "img" });
  const said = {};
  const key = (kind, ...text) => {
    said[kind] = el("b");
    return el("span", { class: "key" }, el("i", { class: `line ${kind}` }), ...text, said[kind]);
  };
  const round = el("span");
  const part = key("part", "rewards missing");
  const told = el("div", { class: "legend-row" }, key("one", round), key("mean", "average"), part);
  const best = el(
    "div",
    { class: "legend-row" },
    key("best", "recommended"),
    key("band", "interval"),
    key("most", bound),
  );
  made.body.append(stage, told, best);
  let plot = null;

  const shown = () => (model.rewards?.rounds ?? []).slice(-state.shown);

  function lines() {
    const rounds = shown();
    const rewards = rounds.map(({ reward }) => reward);
    const { reward, low, high, upper_bound: most } = model.recommended ?? {};
    const flat = (value) => rounds.map(() => value ?? null);
    const shows = Boolean(most !== undefined && (state.bound ?? near(model.recommended, rewards)));
    bound.querySelector("input").checked = shows;
    const numbers = rounds.map((each, i) => each.round ?? i + 1);
    const means = average(rounds, state.window);
    const [full, part] = [false, true].map((is) => rounds.map((one) => (isPart(one) === is ? one.reward : null)));
    return [numbers, full, means, flat(reward), flat(low), flat(high), flat(shows ? most : null), part];
  }

  function draw() {
    const data = lines();
    if (!plot) plot = new window.uPlot(options(stage.clientWidth || 400, say), data, stage);
    else plot.setData(data);
    stage.dataset.rounds = String(data[0].at(-1) ?? 0);
    say(null);
    stage.setAttribute("aria-label", describe(data));
  }

  // The round under the pointer, or the last one.
  function say(at) {
    const rounds = shown();
    const place = at ?? rounds.length - 1;
    const one = rounds[place];
    round.textContent = one ? `round ${whole(one.round)}` : "no round was told yet";
    said.one.textContent = one ? number(one.reward) + partOf(one) : "";
    part.hidden = !rounds.some(isPart);
    said.mean.textContent = one ? number(plot?.data[2][place]) : "–";
    const { reward, low, high, upper_bound: most } = model.recommended ?? {};
    best.hidden = reward === undefined || reward === null;
    said.best.textContent = number(reward);
    said.band.textContent = `${number(low)} to ${number(high)}`;
    said.most.textContent = number(most);
  }

  function describe([numbers, , means]) {
    const one = shown().at(-1);
    if (!one) return "No round was told yet.";
    const last = `Round ${whole(numbers.at(-1))} paid ${number(one.reward)}${partOf(one)}`;
    return `${last}; the average of the last ${state.window} is ${number(means.at(-1))}. ${promise(model)}`;
  }

  function again() {
    plot?.destroy();
    plot = null;
    draw();
  }

  const sized = new ResizeObserver(() => plot?.setSize({ width: stage.clientWidth, height: HIGH }));
  sized.observe(stage);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", again);
  model.on(["rewards", "recommended"], draw);
  return {
    section: made.section,
    draw,
    end() {
      sized.disconnect();
      dark.removeEventListener("change", again);
      plot?.destroy();
    },
  };
}

// A bound far above everything would press the rewards flat; it is then shown when asked for.
function near(best, rewards) {
  const high = Math.max(best.high, ...rewards);
  const low = Math.min(best.low, ...rewards);
  return best.upper_bound <= high + 0.75 * (high - low);
}

function promise({ recommended: best }) {
  if (!best) return "";
  const within = `in ${number(best.low)} to ${number(best.high)}`;
  const most = `no allocation pays more than ${number(best.upper_bound)}`;
  return `The recommended allocation is predicted to pay ${number(best.reward)}, ${within}; ${most}.`;
}
