// The API in words, from openapi.json.

import { button, el, later } from "./dom.js";
import { schemaTree } from "./schema-tree.js";

const METHODS = ["get", "post", "put", "patch", "delete"];

function operations(api) {
  return Object.entries(api.paths).flatMap(([where, item]) =>
    METHODS.filter((method) => item[method]).map((method) => ({
      where,
      method,
      ...item[method],
      parameters: [...(item.parameters ?? []), ...(item[method].parameters ?? [])],
    })),
  );
}

const resolve = (api, given) =>
  given?.$ref
    ? given.$ref
        .slice(2)
        .split("/")
        .reduce((at, key) => at?.[key], api)
    : given;

function curl({ where, method, requestBody, security }, example) {
  const header = security ? '-H "Authorization: Bearer $TOKEN" ' : "";
  const lines = [`curl ${header}${location.origin}${where}`];
  if (method !== "get") lines[0] = lines[0].replace("curl", `curl -X ${method.toUpperCase()}`);
  if (requestBody) lines.push(`-H "Content-Type: application/json" -d '${JSON.stringify(example ?? {})}'`);
  if (requestBody && where.startsWith("/v1")) lines.push(`-H "Idempotency-Key: $(uuidgen)"`);
  return lines.join(" \\\n  ");
}

// A body with every field that must be there.
function sample(api, schema) {
  const of = resolve(api, schema) ?? {};
  if (of.example !== undefined) return of.example;
  if (of.enum) return of.enum[0];
  const one = of.anyOf ?? of.oneOf;
  if (one) return sample(api, one[0]);
  const kind = [of.type].flat()[0];
  if (kind === "object" || of.properties)
    return Object.fromEntries((of.required ?? []).map((key) => [key, sample(api, of.properties?.[key])]));
  return { array: [], integer: 1, number: 0.5, boolean: true, string: "text" }[kind] ?? null;
}

// Text in which `code` is marked as such.
const ticked = (text) => text.split("`").map((part, at) => (at % 2 ? el("code", { text: part }) : part));

function parameterRows(api, given) {
  return given
    .map((each) => resolve(api, each))
    .map(({ name, in: place, required, description, schema }) =>
      el(
        "li",
        {},
        el("code", { text: name }),
        ` ${place}${required ? ", needed" : ""}. `,
        el("span", { class: "soft", text: [schema?.type, description].flat().filter(Boolean).join(": ") }),
      ),
    );
}

function show(api, operation) {
  const { where, method, summary, description, parameters, requestBody, responses } = operation;
  const body = resolve(api, requestBody)?.content?.["application/json"]?.schema;
  const title = `${method}-${where}`;
  const parts = [];
  if (description && description !== summary) parts.push(el("p", { text: description }));
  if (parameters.length)
    parts.push(el("h3", { text: "Takes" }), el("ul", { class: "tree" }, parameterRows(api, parameters)));
  if (body) parts.push(el("h3", { text: "Body" }), schemaTree(api, body));
  const example = curl(operation, body && sample(api, body));
  const copy =
    navigator.clipboard &&
    button("Copy", () => navigator.clipboard.writeText(example), {
      "aria-label": `Copy the example of ${where}`,
    });
  parts.push(el("h3", {}, "Example ", copy), el("pre", { text: example }));
  const answers = Object.entries(responses ?? {}).map(([status, answer]) => {
    const found = resolve(api, answer);
    const schema = found?.content?.["application/json"]?.schema;
    return el(
      "li",
      {},
      el("b", { text: status }),
      " ",
      ticked(found?.description ?? ""),
      schema && el("details", {}, el("summary", { text: "What it holds" }), schemaTree(api, schema)),
    );
  });
  parts.push(el("h3", { text: "Answers" }), el("ul", { class: "tree" }, answers));
  return el(
    "section",
    { class: "panel operation", id: title, "aria-label": `${method} ${where}` },
    el(
      "header",
      {},
      el("span", { class: `method ${method}`, text: method.toUpperCase() }),
      el("h2", { class: "mono", text: where }),
      operation["x-scope"] && el("span", { class: "badge soft", text: operation["x-scope"] }),
    ),
    el("div", { class: "body" }, summary && el("p", { text: summary }), parts),
  );
}

async function start() {
  const main = document.getElementById("main");
  try {
    const api = await (await fetch("/openapi.json")).json();
    const all = operations(api);
    const shown = all.map((operation) => show(api, operation));
    const links = all.map(({ where, method }, at) =>
      el(
        "li",
        {},
        el(
          "a",
          { href: `#${shown[at].id}` },
          el("span", { class: `mono method ${method}`, text: method.toUpperCase() }),
          ` ${where.replace("/v1/controllers/{name}", "{name}")}`,
        ),
      ),
    );
    const filter = el("input", { type: "search", placeholder: "Search", "aria-label": "Search operations" });
    filter.addEventListener(
      "input",
      later(100, () =>
        all.forEach(({ where, summary = "" }, at) => {
          const hide = !`${where} ${summary}`.toLowerCase().includes(filter.value.toLowerCase());
          shown[at].hidden = hide;
          links[at].hidden = hide;
        }),
      ),
    );
    main.replaceChildren(
      el("h1", { class: "pad-small", text: `${api.info.title} ${api.info.version}` }),
      el("p", { class: "soft" }, ticked(api.info.description ?? "")),
      el(
        "div",
        { class: "docs" },
        el("nav", { class: "panel", "aria-label": "Operations" }, filter, el("ul", {}, links)),
        el("div", {}, shown),
      ),
    );
    if (location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
  } catch {
    main.replaceChildren(
      el("p", { class: "note bad", text: "The service does not answer. Load the page again." }),
    );
  }
}

start();
