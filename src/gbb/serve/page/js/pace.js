// Work that is wanted often and done in turn: one at a time, with rest in proportion to its cost, and
// after a delay where something else is wanted first.

import { refused } from "./signin.js";

export function paced(act, least, times, delay = 0) {
  let [running, wanted, next, timer, ended] = [false, false, 0, 0, false];

  async function go() {
    if (ended) return;
    if (running) {
      wanted = true;
      return;
    }
    if (timer) return;
    const wait = Math.max(delay, next - performance.now());
    if (wait > 0) timer = setTimeout(start, wait);
    else await start();
  }

  async function start() {
    timer = 0;
    running = true;
    const began = performance.now();
    try {
      await act();
    } catch (error) {
      refused(error); // a lost connection is said by the stream, which asks for everything again
    }
    const end = performance.now();
    next = end + Math.max(least, times * (end - began));
    running = false;
    if (wanted) {
      wanted = false;
      go();
    }
  }

  go.end = () => {
    ended = true;
    clearTimeout(timer);
  };
  return go;
}
