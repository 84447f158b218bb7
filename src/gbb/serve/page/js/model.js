// What the page knows of one controller, read again as its log grows. Panels hear of what changed.

import { get, path, query } from "./api.js";
import { Live } from "./live.js";
import { paced } from "./pace.js";

const KEPT = 2000; // rounds, fewer where each has many rewards
const NUMBERS = 4e6;
const CHANGES = new Set(["forbid", "pin", "allow", "graph", "create"]);
const REWRITES = new Set(["retract", "discount", "graph", "tables"]);

export const isHeavy = ({ rounds, edges }) => rounds * edges > 2e7;

export class Model {
  constructor(name) {
    this.name = name;
    this.errors = {};
    this.of = "played";
    this.listeners = [];
    this.paces = {
      now: paced(() => this.read("played"), 50, 1),
      links: paced(() => this.read("links"), 200, 2, 60),
      soon: paced(() => this.read("status", "estimate"), 700, 2, 250),
      best: paced(() => this.read("recommended"), 4000, 8, 400),
      fit: paced(() => this.read("diagnosis"), 30000, 15, 1000),
      shape: paced(() => this.read("network"), 200, 1),
      rounds: paced(() => this.read("rewards"), 500, 2),
    };
  }

  on(keys, act) {
    this.listeners.push([new Set(keys), act]);
  }

  changed(...keys) {
    for (const [wanted, act] of this.listeners) if (keys.some((key) => wanted.has(key))) act(this);
  }

  url(key) {
    const at = (what, given = {}) => path(this.name, what) + query(given);
    const of = this.of === "recommended" ? "recommended" : "played";
    return {
      status: () => path(this.name),
      network: () => at("network"),
      played: () => at("allocation", { of: "played" }),
      recommended: () => at("allocation", { of: "recommended" }),
      links: () => at("links", { of, worst: this.large ? 20 : null }),
      rewards: () => at("rewards", { last: this.kept }),
      estimate: () => at("estimate"),
      diagnosis: () => at("diagnose", { worst: 6 }),
    }[key]();
  }

  async read(...keys) {
    const done = await Promise.all(keys.map((key) => this.readOne(key)));
    const fresh = keys.filter((_, i) => done[i]);
    if (fresh.length) this.changed(...fresh);
  }

  async readOne(key) {
    try {
      const data = await get(this.url(key));
      if (data === this[key] && !this.errors[key]) return false;
      this[key] = data;
      delete this.errors[key];
      return true;
    } catch (error) {
      if (error.status === 0 || error.status === 401) throw error;
      this.errors[key] = error;
      return true;
    }
  }

  // A diagnosis reads all rounds: of a large network only when it is asked for.
  get heavy() {
    return isHeavy(this.status);
  }

  get judges() {
    return this.status.rounds > 0 && !this.heavy;
  }

  get large() {
    return this.network && !this.network.agents;
  }

  // What the first picture needs comes first; the rest follows.
  async start() {
    await this.readOne("status");
    if (this.errors.status) throw this.errors.status;
    this.kept = Math.round(Math.min(KEPT, Math.max(20, NUMBERS / this.status.edges)));
    await Promise.all(["network", "rewards"].map((key) => this.readOne(key)));
    if (this.errors.network) throw this.errors.network;
    this.live = new Live(this.name, this.status.events);
    this.live.addEventListener("events", ({ detail }) => this.take(detail));
  }

  async rest() {
    const keys = [["links"], ["estimate"], ["recommended"], ...(this.judges ? [["diagnosis"]] : [])];
    for (const some of keys) await this.read(...some).catch(() => {});
  }

  take(events) {
    const last = events.at(-1);
    this.last = last;
    this.status.events = last.seq;
    this.status.rounds = last.rounds ?? this.status.rounds;
    const told = events.filter(({ reward }) => reward !== null && reward !== undefined);
    if (this.rewards && told.length) this.add(told);
    this.changed("live");
    const kinds = new Set(events.map(({ kind }) => kind));
    if ([...kinds].some((kind) => REWRITES.has(kind))) this.paces.rounds();
    if ([...kinds].some((kind) => CHANGES.has(kind))) this.paces.shape();
    for (const key of ["now", "links", "soon", "best", ...(this.judges ? ["fit"] : [])]) this.paces[key]();
  }

  add(told) {
    const rounds = [...this.rewards.rounds];
    const seen = new Set(rounds.slice(-told.length - 50).map(({ seq }) => seq));
    for (const each of told) {
      if (seen.has(each.seq)) continue;
      const round = each.round ?? (rounds.at(-1)?.round ?? 0) + 1;
      rounds.push({ seq: each.seq, round, trial: each.trial, reward: each.reward, told: each.told });
    }
    this.rewards = { ...this.rewards, rounds: rounds.slice(-this.kept) };
    this.changed("rewards");
  }

  stop() {
    this.live?.close();
    for (const pace of Object.values(this.paces)) pace.end();
  }
}
