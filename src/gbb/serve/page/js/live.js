// Server-sent events by fetch, since EventSource sends no token. A stream that ends is opened again
// after the last event that was seen, so that nothing is missed.

import { headers, path, problem } from "./api.js";

const QUIET = 40000; // the service says something every 15 s
const WAITS = [500, 1000, 2000, 4000, 8000];

export class Live extends EventTarget {
  constructor(name, after) {
    super();
    this.url = path(name, "events");
    this.last = after;
    this.failures = 0;
    this.closed = false;
    this.run();
  }

  close() {
    this.closed = true;
    this.stop?.abort();
    clearTimeout(this.timer);
  }

  retry() {
    clearTimeout(this.timer);
    this.wake?.();
  }

  say(kind, detail) {
    this.dispatchEvent(new CustomEvent(kind, { detail }));
  }

  async run() {
    while (!this.closed) {
      let why = "The connection was closed.";
      try {
        await this.read();
      } catch (error) {
        if (this.closed) return;
        if (error.status === 401 || error.status === 403 || error.status === 404)
          return this.say("refused", error);
        why = error.status ? error.message : "The service does not answer.";
      }
      if (this.closed) return;
      const wait = WAITS[Math.min(this.failures, WAITS.length - 1)];
      this.failures += 1;
      this.say("lost", { why, wait });
      await new Promise((done) => {
        this.wake = done;
        this.timer = setTimeout(done, wait);
      });
    }
  }

  async read() {
    this.stop = new AbortController();
    const asked = headers({ Accept: "text/event-stream", "Last-Event-ID": String(this.last) });
    const watch = this.watch();
    try {
      const answer = await fetch(this.url, { headers: asked, signal: this.stop.signal, cache: "no-store" });
      if (!answer.ok) throw await problem(answer);
      this.say("open", { again: this.failures > 0 });
      this.failures = 0;
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let held = ""; ;) {
        const { value, done } = await reader.read();
        if (done) return;
        watch.heard();
        const blocks = (held + value).replaceAll("\r\n", "\n").split("\n\n");
        held = blocks.pop();
        const events = blocks.map(parse).filter(Boolean);
        if (events.length) this.take(events);
      }
    } finally {
      watch.end();
    }
  }

  take(events) {
    const fresh = events.filter(({ seq }) => seq > this.last);
    if (!fresh.length) return;
    this.last = fresh.at(-1).seq;
    this.say("events", fresh);
  }

  watch() {
    let heard = Date.now();
    const timer = setInterval(() => Date.now() - heard > QUIET && this.stop.abort(), 5000);
    return { heard: () => (heard = Date.now()), end: () => clearInterval(timer) };
  }
}

function parse(block) {
  const lines = block.split("\n").filter((line) => line.startsWith("data:"));
  if (!lines.length) return null;
  try {
    return JSON.parse(lines.map((line) => line.slice(5).trimStart()).join("\n"));
  } catch {
    return null;
  }
}
