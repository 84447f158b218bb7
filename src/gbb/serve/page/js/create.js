// A new controller, from links and arms as text, as the files of the command line have them.

import { post } from "./api.js";
import { resting } from "./connection.js";
import { button, el, panel, tick } from "./dom.js";
import { count } from "./format.js";
import { readArms, readLinks } from "./tables.js";
import { refused } from "./signin.js";

const LINKS = "west,north\nnorth,east\neast,south\nsouth,west\nwest,east";
const ARMS = "straight,1.0,0.0\nleft,0.8,0.6\nright,0.8,-0.6";
// Those that need no settings; the others are for the API and the command line.
const POLICIES = [
  "ImprovedOFUL",
  "JointOFUL",
  "ThompsonSampling",
  "GuardedThompson",
  "InformationDirected",
  "BernoulliThompson",
  "OFUL",
  "KCutOFUL",
  "EpsilonGreedy",
  "PhasedExploration",
  "FixedAllocation",
  "UniformRandom",
];

const NOTHING = "Nothing is saved until you press Create.";
const MORE =
  "Left empty, sigma and S are estimated from the rewards; asks, intervals and bounds depend on them. " +
  "Positions, types, weights, contexts and settings of policies: through the API and the command line.";

function sizes(edges, { names, features }, undirected) {
  const agents = count(new Set(edges.flat()).size, "agent");
  const directed = count(edges.length * (undirected ? 2 : 1), "directed edge");
  return `${agents}, ${directed}, ${count(names.length, "arm")} with ${count(features[0].length, "feature")}.`;
}

const given = ({ value }) => (value === "" ? null : Number(value));

export function showCreate(main) {
  resting("Ready");
  const field = (title, input) => el("label", { class: "field" }, el("span", { text: title }), input);
  const name = el("input", { required: true, maxlength: "200", autocomplete: "off", name: "name" });
  const links = el("textarea", { required: true, spellcheck: "false", name: "links", placeholder: LINKS });
  const arms = el("textarea", { required: true, spellcheck: "false", name: "arms", placeholder: ARMS });
  const known = (name) => el("input", { type: "number", min: "0", step: "any", placeholder: "estimated", name });
  const [sigma, S] = [known("sigma"), known("S")];
  const seed = el("input", { type: "number", min: "0", step: "1", required: true, value: "0", name: "seed" });
  const policy = el(
    "select",
    { name: "policy" },
    POLICIES.map((each) => el("option", {}, each)),
  );
  let undirected = true;
  const note = el("p", { class: "note", role: "status" });

  function look() {
    try {
      const [edges, rows] = [readLinks(links.value), readArms(arms.value)];
      note.className = "note";
      note.textContent = edges.length && rows.names.length ? sizes(edges, rows, undirected) : NOTHING;
      return { edges, rows };
    } catch (error) {
      note.className = "note bad";
      note.textContent = error.message;
      return null;
    }
  }

  async function create(event) {
    event.preventDefault();
    const read = look();
    if (!read) return;
    const problem = {
      edges: read.edges,
      undirected,
      arms: read.rows.features,
      arm_names: read.rows.names,
      sigma: given(sigma),
      S: given(S),
    };
    submit.disabled = true;
    try {
      await post("/v1/controllers", {
        name: name.value,
        problem,
        policy: policy.value,
        seed: Number(seed.value),
      });
      location.hash = `#/c/${encodeURIComponent(name.value)}`;
    } catch (error) {
      if (refused(error)) return;
      note.className = "note bad";
      note.textContent = error.message;
    } finally {
      submit.disabled = false;
    }
  }

  const submit = el("button", { class: "main", type: "submit", text: "Create" });
  const example = button("Fill in an example", () => {
    [links.value, arms.value, sigma.value, S.value] = [LINKS, ARMS, "0.2", "2"];
    name.value ||= "farm";
    look();
  });
  const form = el(
    "form",
    { class: "form", on: { submit: create, input: look } },
    field("Name", name),
    el(
      "div",
      { class: "two" },
      field("Links, one per line: two agents", links),
      field("Arms, one per line: a name and its features (none: one-hot)", arms),
    ),
    tick("Each line stands for both directions", true, (value) => {
      undirected = value;
      look();
    }),
    el(
      "div",
      { class: "two" },
      field("Noise of a reward, sigma", sigma),
      field("Bound S on the norm of the unknown matrix", S),
    ),
    el("div", { class: "two" }, field("Policy", policy), field("Seed", seed)),
    el("p", {
      class: "small soft",
      text: MORE,
    }),
    note,
    el("div", {}, submit, " ", example),
  );
  const made = panel("New controller");
  made.body.append(form);
  main.replaceChildren(el("h1", { class: "hidden-text", text: "New controller" }), made.section);
  look();
  name.focus();
  return () => {};
}
