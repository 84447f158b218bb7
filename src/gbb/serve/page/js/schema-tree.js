// A JSON schema as a list of fields.

import { el } from "./dom.js";

const DEEP = 5;
const PLAIN = new Set(["text", "object", "number", "whole number", "true or false"]);

function follow(api, schema) {
  return schema?.$ref
    ? schema.$ref
        .slice(2)
        .split("/")
        .reduce((at, key) => at?.[key], api)
    : (schema ?? {});
}

export function kind(api, schema) {
  const of = follow(api, schema);
  if (of.enum) return of.enum.map((each) => JSON.stringify(each)).join(" or ");
  if (of.const !== undefined) return JSON.stringify(of.const);
  const some = of.anyOf ?? of.oneOf;
  if (some) return [...new Set(some.map((each) => kind(api, each)))].join(" or ");
  if (of.type === "array") return `list of ${kind(api, of.items)}`;
  return [of.type ?? "anything"].flat().join(" or ");
}

function fields(api, schema) {
  const of = follow(api, schema);
  if (of.properties) return of;
  if (of.type === "array" || [of.type].flat().includes("array")) return fields(api, of.items ?? {});
  return null;
}

export function schemaTree(api, schema, deep = 0) {
  const of = fields(api, schema);
  if (!of || deep > DEEP) return el("p", { class: "soft", text: kind(api, schema) });
  const needed = new Set(of.required ?? []);
  return el(
    "ul",
    { class: "tree" },
    Object.entries(of.properties).map(([name, each]) => {
      const inner = fields(api, each);
      const said = follow(api, each).description;
      const note = PLAIN.has(said) ? null : said;
      return el(
        "li",
        {},
        el("code", { text: name }),
        el("span", {
          class: "soft",
          text: ` ${kind(api, each)}${needed.has(name) ? "" : ", may be left out"}${note ? `: ${note}` : ""}`,
        }),
        inner && schemaTree(api, each, deep + 1),
      );
    }),
  );
}
