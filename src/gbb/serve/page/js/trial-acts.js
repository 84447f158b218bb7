// What is done about trials and about all that was told: abandon, retract and discount.

import { get, path, query } from "./api.js";
import { toast } from "./say.js";

// How a retraction is undone; an attached round is attached anew by whoever has it.
const UNDO = {
  tell: "telling the same rewards again",
  timeout: "abandoning it",
  fail: "saying again that it failed",
  abandon: "abandoning it again",
  attach: null,
};

export function trialActs(model, call) {
  const history = (given) => get(path(model.name, "history") + query(given));

  async function sayAgain(seq, kind, trial) {
    if (kind !== "tell") return call(kind === "fail" ? "fail" : "abandon", { trial });
    const { entries } = await history({ after: seq - 1, limit: 1 });
    const { rewards } = entries[0].content;
    return call("tell", { trial, rewards: rewards[0]?.length === 1 ? rewards[0][0] : rewards });
  }

  return {
    abandon: (trial) => ({
      title: `Abandon trial ${trial}?`,
      says:
        `Trial ${trial} is closed as not played, and nothing is learnt from it. ` +
        "Rewards that come later are refused, unless it is retracted first.",
      undo: "opening it again",
      act: "Abandon",
      reason: true,
      work: ({ text }) => call("abandon", { trial, reason: text }),
      done: () => `Trial ${trial} is abandoned.`,
      back: () => call("retract", { trial, reason: "abandoned by mistake" }),
    }),

    async retract({ seq, kind, trial }) {
      const { entries } = await history({ kind: "retract", limit: 1000, brief: true });
      if (entries.some(({ content }) => content.of === seq)) {
        toast(`Event ${seq} was taken back already.`);
        return null;
      }
      const counts = kind === "tell" || kind === "attach";
      const what = counts
        ? "Its rewards are taken out of everything learnt"
        : "How it was closed is taken back";
      const open = trial === null ? "" : `, and trial ${trial} is open again`;
      const which = trial === null ? { event: seq } : { trial };
      return {
        title: `Retract event ${seq}?`,
        says: `${what}${open}. The history keeps both. On a long log this takes some seconds.`,
        undo: UNDO[kind],
        act: "Retract",
        reason: true,
        work: ({ text }) => call("retract", { ...which, reason: text }),
        done: () => (trial === null ? `Event ${seq} is taken back.` : `Trial ${trial} is open again.`),
        back: UNDO[kind] && (() => sayAgain(seq, kind, trial)),
      };
    },

    discount: () => ({
      title: "Let old rounds count less?",
      says:
        "Everything told so far counts less: intervals widen, and the controller trusts new rounds more. " +
        "A factor of 0.5 halves the weight of all that was told.",
      undo: null,
      act: "Discount",
      number: "Factor, above 0 and below 1",
      work: ({ number }) => call("discount", { factor: number }),
      done: ({ number }) => `Everything told before counts ${number} times as much.`,
    }),
  };
}
