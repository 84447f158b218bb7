// All controllers at a glance, read anew every few seconds.

import { get, path, query } from "./api.js";
import { average, partOf } from "./chart.js";
import { connected, lost } from "./connection.js";
import { el, later, panel, scroller, table } from "./dom.js";
import { clock, number, whole } from "./format.js";
import { isHeavy } from "./model.js";
import { sparkline } from "./sparkline.js";
import { refused } from "./signin.js";

const EVERY = 3000;
const MANY = 8;
const COLUMNS = [
  { text: "Controller" },
  { text: "Policy" },
  { text: "Agents", num: true },
  { text: "Edges", num: true },
  { text: "Rounds", num: true },
  { text: "Last reward", num: true },
  { text: "Rewards" },
  { text: "Open trials", num: true },
  { text: "Last event" },
  { text: "Model" },
  { text: "Alerts" },
];

export async function showOverview(main) {
  const rows = new Map();
  const filter = el("input", {
    type: "search",
    placeholder: "Search",
    "aria-label": "Search controllers",
    hidden: true,
  });
  const add = el("a", { href: "#/new", class: "button administers" }, "New controller");
  const { section, body } = panel("Controllers", { tools: [filter, add], flush: true });
  const list = table(COLUMNS, { className: "cards", caption: "All controllers" });
  const none = el(
    "p",
    { class: "pad soft", hidden: true },
    "There is no controller yet. Make one here, or with ",
    el("code", { text: "gbb control create" }),
    ".",
  );
  body.append(scroller("Controllers", list.table), none);
  let timer = 0;
  let ended = false;

  function draw(found) {
    const names = new Set(found.map(({ name }) => name));
    for (const [name, row] of rows) {
      if (names.has(name)) continue;
      row.node.remove();
      rows.delete(name);
    }
    for (const each of found) {
      if (!rows.has(each.name)) {
        rows.set(each.name, makeRow(each.name));
        list.body.append(rows.get(each.name).node);
      }
      rows.get(each.name).update(each);
    }
    filter.hidden = found.length <= MANY;
    none.hidden = found.length > 0;
    sieve();
  }

  function sieve() {
    const word = filter.hidden ? "" : filter.value.toLowerCase();
    for (const [name, row] of rows) row.node.hidden = !name.toLowerCase().includes(word);
  }

  async function read() {
    clearTimeout(timer);
    if (document.hidden) return (timer = setTimeout(read, EVERY)); // nobody looks
    try {
      draw((await get("/v1/controllers")).controllers);
      connected();
    } catch (error) {
      if (ended) return;
      if (refused(error)) return;
      lost(error.message, read);
    }
    if (!ended) timer = setTimeout(read, EVERY);
  }

  filter.addEventListener("input", later(100, sieve));
  const first = await get("/v1/controllers");
  main.replaceChildren(el("h1", { class: "hidden-text", text: "All controllers" }), section);
  draw(first.controllers);
  connected();
  timer = setTimeout(read, EVERY);
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}

const seen = (node) =>
  node.isConnected &&
  node.getBoundingClientRect().top < innerHeight &&
  node.getBoundingClientRect().bottom > 0;

// One after the other, and only of rows that are in view: there may be many controllers.
let line = Promise.resolve();
const inTurn = (act) => (line = line.then(act).catch(() => {}));

function makeRow(name) {
  const cells = COLUMNS.slice(1).map(({ text, num }) =>
    el("td", { class: num ? "num" : null, "data-label": text }),
  );
  const link = el("a", { href: `#/c/${encodeURIComponent(name)}` }, name);
  const node = el("tr", {}, el("th", { scope: "row" }, link), cells);
  const [policy, agents, edges, rounds, reward, spark, open, time, fit, look] = cells;
  let drawn = -1;

  async function details(each) {
    if (drawn === each.events || !seen(node)) return;
    drawn = each.events;
    const last = Math.round(Math.min(60, Math.max(2, 1e6 / each.edges)));
    const { rounds: told } = await get(path(name, "rewards") + query({ last })).catch(() => ({ rounds: [] }));
    spark.replaceChildren(sparkline(average(told, 1)));
    if (fit.textContent) return;
    if (!each.rounds || isHeavy(each)) return fit.replaceChildren("–");
    const found = await get(path(name, "diagnose")).catch(() => null);
    fit.replaceChildren(found ? fitBadge(found) : "–");
  }

  function update(each) {
    policy.textContent = each.policy;
    agents.textContent = whole(each.agents);
    edges.textContent = whole(each.edges);
    rounds.textContent = whole(each.rounds);
    const part = partOf({ told: each.last_told, of: each.last_of });
    reward.replaceChildren(number(each.last_reward), el("span", { class: "small soft", text: part }));
    open.textContent = whole(each.open);
    time.textContent = clock(each.last_time);
    const notes = each.alerts.map(({ text }) => text); // a caveat is one of them
    look.replaceChildren(
      ...(notes.length ? [...new Set(notes)].map((text) => el("p", { class: "warn small", text })) : ["None"]),
    );
    inTurn(() => details(each));
  }
  return { node, update };
}

export function fitBadge(found) {
  const kind = { good: "good", poor: "bad" }[found.status] ?? "soft";
  return el("span", { class: `badge ${kind}`, title: found.sentence, text: found.status });
}
