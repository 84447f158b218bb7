// The log, newest first, searched by the service and read page by page.

import { get, path, query } from "./api.js";
import { download } from "./download.js";
import { button, el, later, panel, scroller, table } from "./dom.js";
import { clock, whole } from "./format.js";
import { paced } from "./pace.js";
import { complain } from "./say.js";
import { tellEntry } from "./sentences.js";

const PAGE = 40;
const MOST = 400;
const BACK = new Set(["tell", "fail", "abandon", "timeout", "attach"]);
const KINDS = [
  "ask",
  "tell",
  "fail",
  "abandon",
  "timeout",
  "retract",
  "attach",
  "warning",
  "alert",
  "forbid",
  "pin",
  "allow",
  "policy",
  "graph",
  "discount",
  "tables",
  "create",
];

export function makeHistory(model, acts) {
  const search = el("input", { type: "search", placeholder: "Search", "aria-label": "Search the history" });
  const kind = el(
    "select",
    { "aria-label": "Kind of event" },
    el("option", { value: "" }, "All kinds"),
    KINDS.map((each) => el("option", { value: each }, each)),
  );
  const save = (file, text) =>
    button(text, () => download(model.name, file).catch(complain), {
      "aria-label": `Save all rewards as ${text}`,
    });
  const discount = button("Discount", () => acts.discount(), { class: "operates" });
  const made = panel("History", {
    tools: [search, kind, save("export.csv", "CSV"), save("export.parquet", "Parquet"), discount],
    flush: true,
    className: "history",
  });
  const list = table(
    [
      { text: "Event", num: true },
      { text: "Time" },
      { text: "Kind" },
      { text: "Trial", num: true },
      { text: "By" },
      { text: "What" },
      { text: "" },
    ],
    { className: "log", caption: "History" },
  );
  const more = button("Older", () => older().catch(complain));
  const none = el("p", { class: "pad soft", hidden: true });
  made.body.append(scroller("History", list.table), none, el("div", { class: "pad-small" }, more));
  let [next, asked] = [null, 0];

  const url = (before) =>
    path(model.name, "history") +
    query({ limit: PAGE, before, kind: kind.value, search: search.value.trim(), brief: true });

  async function find() {
    const here = (asked += 1);
    try {
      const { entries, next: rest } = await get(url());
      if (here !== asked) return;
      fill(entries, rest);
    } catch (error) {
      none.hidden = false;
      none.textContent = error.message;
    }
  }

  function fill(entries, rest) {
    list.body.replaceChildren(...entries.map(row));
    none.hidden = entries.length > 0;
    none.textContent = "Nothing was found.";
    next = rest;
    more.hidden = next === null;
  }

  // What is new is put on top: rows that are read, or have the focus, stay as they are.
  async function news() {
    const here = asked;
    const { entries, next: rest } = await get(url());
    if (here !== asked) return;
    const top = Number(list.body.firstElementChild?.dataset.seq ?? -1);
    const fresh = entries.filter(({ seq }) => seq > top);
    if (top < 0 || fresh.length === entries.length) return fill(entries, rest);
    list.body.prepend(...fresh.map(row));
    while (list.body.childElementCount > MOST) list.body.lastElementChild.remove();
    if (list.body.childElementCount === MOST) next = Number(list.body.lastElementChild.dataset.seq);
    more.hidden = next === null;
  }

  async function older() {
    const { entries, next: rest } = await get(url(next));
    next = rest;
    list.body.append(...entries.map(row));
    more.hidden = next === null;
  }

  function row(entry) {
    const back =
      BACK.has(entry.kind) &&
      button("Retract", () => acts.retract(entry), {
        class: "operates",
        "aria-label": `Retract what was told in event ${entry.seq}`,
      });
    const cells = [
      ["Event", whole(entry.seq), true],
      ["Time", clock(entry.time)],
      ["Kind", entry.kind],
      ["Trial", entry.trial === null ? "" : whole(entry.trial), true],
      ["By", entry.by ?? ""],
    ];
    return el(
      "tr",
      { "data-seq": entry.seq },
      cells.map(([label, text, num]) => el("td", { "data-label": label, class: num ? "num" : null, text })),
      el("td", { class: "what", "data-label": "What" }, el("span", { text: tellEntry(entry) })),
      el("td", { class: "acts" }, back),
    );
  }

  const fresh = paced(news, 600, 2, 200);
  const look = later(250, find);
  search.addEventListener("input", look);
  kind.addEventListener("change", look);
  model.on(["live"], fresh);
  return { section: made.section, start: find, end: fresh.end };
}
