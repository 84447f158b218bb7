// Elements in one line. Styles are set by classes or by the object model, never by an attribute,
// since the content security policy allows no inline style.

export function el(tag, given = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "class") node.className = value;
    else if (key === "text") node.textContent = value;
    else if (key === "on") for (const [name, act] of Object.entries(value)) node.addEventListener(name, act);
    else if (key === "style")
      for (const [name, to] of Object.entries(value)) node.style.setProperty(name, to);
    else if (key === "value") node.value = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

let numbers = 0;
export const unique = (stem) => `${stem}-${(numbers += 1)}`;

export function panel(title, { tools = [], flush = false, className = "" } = {}) {
  const id = unique("panel");
  const heading = el("h2", { id, text: title });
  const body = el("div", { class: flush ? "body flush" : "body" });
  const header = el("header", {}, heading, ...tools);
  const section = el("section", { class: `panel ${className}`, "aria-labelledby": id }, header, body);
  return { section, header, heading, body };
}

// A set of radio buttons that looks like one switch.
export function choices(title, options, chosen, change) {
  const name = unique("choice");
  const buttons = Object.entries(options).map(([value, text]) => {
    const input = el("input", { type: "radio", name, value, checked: value === chosen });
    input.addEventListener("change", () => input.checked && change(value));
    return el("label", {}, input, text);
  });
  const set = el("span", { class: "set", role: "radiogroup", "aria-label": title }, buttons);
  return el(
    "div",
    { class: "switch" },
    el("span", { class: "legend", text: title, "aria-hidden": "true" }),
    set,
  );
}

// One of some numbers, each in words.
export function pick(label, numbers, chosen, words, change) {
  const items = numbers.map((value) => el("option", { value }, words(value)));
  const select = el("select", { "aria-label": label }, items);
  select.value = chosen;
  select.addEventListener("change", () => change(Number(select.value)));
  return select;
}

export function tick(text, checked, change) {
  const input = el("input", { type: "checkbox", checked });
  input.addEventListener("change", () => change(input.checked));
  return el("label", { class: "tick" }, input, text);
}

export const button = (text, act, given = {}) =>
  el("button", { type: "button", ...given, on: { click: act } }, text);

export function table(columns, { className = "", caption } = {}) {
  const heads = columns.map(({ text, num }) => el("th", { scope: "col", class: num ? "num" : null }, text));
  const body = el("tbody");
  const title = caption && el("caption", { class: "hidden-text", text: caption });
  return {
    table: el("table", { class: className }, title, el("thead", {}, el("tr", {}, heads)), body),
    body,
  };
}

// What is scrolled must be reachable by the keyboard.
export const scroller = (label, ...children) =>
  el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, children);

export function later(wait, act) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...given), wait);
  };
}
