// The table of agents: the picture in words, searched by the service, whatever their number.

import { get, path, query } from "./api.js";
import { button, el, later, panel, scroller, table } from "./dom.js";
import { list, whole } from "./format.js";
import { paced } from "./pace.js";
import { complain } from "./say.js";
import { keyedRows } from "./rows.js";
import { swatch } from "./legend.js";

const PAGE = 50;

export function makeAgents(model, choose) {
  const search = el("input", {
    type: "search",
    placeholder: "Search agents",
    "aria-label": "Search agents",
    class: "find-agent",
  });
  const made = panel("Agents", { tools: [search], flush: true, className: "agents" });
  const rows = table(
    [
      { text: "Agent" },
      { text: "Played" },
      { text: "Recommended" },
      { text: "Links", num: true },
      { text: "Forbidden" },
    ],
    { caption: "Agents" },
  );
  const foot = el("div", { class: "pad-small soft" });
  made.body.append(scroller("Agents", rows.table), foot);
  let [offset, asked] = [0, 0];

  async function read() {
    const here = (asked += 1);
    const { agents, total } = await get(
      path(model.name, "agents") + query({ search: search.value.trim(), limit: PAGE, offset }),
    );
    if (here !== asked) return;
    fill(agents, ({ agent }) => agent);
    const free = agents.every(({ allowed }) => allowed.length === model.network.arms.length);
    rows.table.classList.toggle("free", free);
    const turn = (by) => () => {
      offset += by;
      read().catch(complain);
    };
    foot.replaceChildren(
      total
        ? `${whole(offset + 1)} to ${whole(offset + agents.length)} of ${whole(total)} `
        : "No agent has such a name.",
      offset > 0 ? button("Previous", turn(-PAGE)) : "",
      " ",
      offset + agents.length < total ? button("Next", turn(PAGE)) : "",
    );
  }

  const fill = keyedRows(rows.body, ({ agent }) => {
    const [now, best, degree, without] = [el("td"), el("td"), el("td", { class: "num" }), el("td")];
    const arm = (name) =>
      name === null
        ? [el("span", { class: "soft", text: "–" })]
        : [swatch(model.network.arms.indexOf(name)), String(name)];
    return {
      node: el(
        "tr",
        {},
        el(
          "th",
          { scope: "row" },
          button(String(agent), () => choose(agent), { class: "link" }),
        ),
        now,
        best,
        degree,
        without,
      ),
      update({ played, recommended, degree: links, allowed }) {
        now.replaceChildren(...arm(played));
        best.replaceChildren(...arm(recommended));
        best.className = played !== recommended && recommended !== null ? "warn" : "";
        degree.textContent = whole(links);
        const gone = model.network.arms.filter((each) => !allowed.includes(each));
        without.textContent = gone.length ? list(gone, 3) : "";
      },
    };
  });

  const fresh = paced(read, 1200, 3, 350);
  search.addEventListener(
    "input",
    later(200, () => {
      offset = 0;
      read().catch(complain);
    }),
  );
  model.on(["played", "recommended", "network"], fresh);
  return { section: made.section, start: () => read().catch(() => {}), end: fresh.end };
}
