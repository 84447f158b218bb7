// Calls to the service. Reads are kept by their ETag; writes carry a key, so that a write whose
// answer was lost is said again and counts once.

const PLACE = "gbb-token";
const kept = new Map();
const KEPT = 200;

export class Problem extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

export const token = {
  get: () => sessionStorage.getItem(PLACE),
  set: (value) => (value ? sessionStorage.setItem(PLACE, value) : sessionStorage.removeItem(PLACE)),
};

export function headers(more = {}) {
  const held = token.get();
  return held ? { Authorization: `Bearer ${held}`, ...more } : { ...more };
}

export const path = (name, ...rest) =>
  [
    "/v1/controllers",
    ...[name, ...rest].filter((part) => part !== undefined).map((part) => encodeURIComponent(part)),
  ].join("/");

export function query(given) {
  const pairs = Object.entries(given).filter(
    ([, value]) => value !== undefined && value !== null && value !== "",
  );
  return pairs.length ? `?${new URLSearchParams(pairs)}` : "";
}

// An error in the service's own words where it has any.
export async function problem(answer) {
  let detail = "";
  try {
    detail = (await answer.json()).detail;
  } catch {
    detail = "";
  }
  const words = {
    401: "This service needs a token.",
    403: "This token may not do that.",
    429: "Too many requests; wait a little.",
  };
  return new Problem(
    answer.status,
    String(detail || words[answer.status] || `The service answered ${answer.status}.`),
  );
}

async function send(url, given) {
  try {
    return await fetch(url, given);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, "The service does not answer.");
  }
}

// What the token is good for, as every answer says: style sheets hide the acts that it is not.
const heed = (answer) => {
  const scope = answer.headers.get("gbb-scope");
  if (scope) document.documentElement.dataset.scope = scope;
};

export async function get(url, { signal } = {}) {
  const before = kept.get(url);
  const asked = headers(before ? { "If-None-Match": before.tag } : {});
  const answer = await send(url, { headers: asked, signal, cache: "no-store" });
  heed(answer);
  if (answer.status === 304 && before) return before.data;
  if (!answer.ok) throw await problem(answer);
  const data = await answer.json();
  const tag = answer.headers.get("ETag");
  if (tag) keep(url, { tag, data });
  return data;
}

function keep(url, entry) {
  kept.delete(url);
  kept.set(url, entry);
  if (kept.size > KEPT) kept.delete(kept.keys().next().value);
}

export const forget = () => kept.clear();

function makeKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export async function post(url, body, tries = 4) {
  const asked = headers({ "Content-Type": "application/json", "Idempotency-Key": makeKey() });
  for (let left = tries; ; left -= 1) {
    try {
      const answer = await send(url, { method: "POST", headers: asked, body: JSON.stringify(body) });
      if (answer.ok) return await answer.json();
      throw await problem(answer);
    } catch (error) {
      if (left <= 1 || !(error.status === 0 || error.status === 503)) throw error;
      await new Promise((done) => setTimeout(done, 300 * (tries - left + 1)));
    }
  }
}
