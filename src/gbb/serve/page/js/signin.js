// Asks for a token, which stays in this tab only.

import { forget, token } from "./api.js";
import { button, el } from "./dom.js";

let shown = null;

export function askToken(why = "") {
  if (shown) return;
  const input = el("input", { type: "password", autocomplete: "off", spellcheck: "false", id: "token-text" });
  const keep = () => {
    token.set(input.value.trim());
    forget();
    document.getElementById("main").replaceChildren(el("p", { class: "soft pad", text: "Loading." }));
    dialog.close();
    window.dispatchEvent(new Event("hashchange"));
  };
  const drop =
    token.get() &&
    button("Forget the token", () => {
      input.value = "";
      keep();
    });
  const form = el(
    "form",
    {
      method: "dialog",
      on: {
        submit: (event) => {
          event.preventDefault();
          keep();
        },
      },
    },
    el("h2", { text: "Token", id: "token-title" }),
    why && el("p", { class: "note bad", role: "alert", text: why }),
    el(
      "p",
      { class: "soft" },
      "Tokens are made on the service's machine, with ",
      el("code", { text: "gbb serve token" }),
      ". It is kept in this tab only, until the tab is closed.",
    ),
    el("label", { class: "field" }, el("span", { text: "Token" }), input),
    el(
      "div",
      { class: "row" },
      drop,
      button("Cancel", () => dialog.close()),
      el("button", { class: "main" }, "Use it"),
    ),
  );
  const dialog = el("dialog", { "aria-labelledby": "token-title" }, form);
  dialog.addEventListener("close", () => {
    dialog.remove();
    shown = null;
  });
  shown = dialog;
  document.body.append(dialog);
  dialog.showModal();
  input.focus();
}

// What to do with a refused call: ask for a token, in the service's words.
export function refused(error) {
  if (error.status !== 401) return false;
  const [words] = error.message.split(" Send the header"); // the page does that
  askToken(token.get() ? `The token was not accepted. ${words}` : words);
  return true;
}
