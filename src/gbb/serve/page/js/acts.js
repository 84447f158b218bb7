// What an operator does: said before, done once, and undone where that is possible.

import { path, post } from "./api.js";
import { armActs } from "./arm-acts.js";
import { ask } from "./ask.js";
import { complain, toast } from "./say.js";
import { refused } from "./signin.js";
import { trialActs } from "./trial-acts.js";

export function makeActs(model) {
  const call = (verb, body) => post(path(model.name, verb), body);

  // Makes sure that what goes wrong is said, in the service's words.
  async function trying(work) {
    try {
      return await work();
    } catch (error) {
      if (!refused(error)) complain(error);
      return null;
    }
  }

  // An act in words: its title, what it says will happen, how it is undone, the name of the button;
  // what it does with the reason or number that was given, and what is said when it is done.
  async function offer({ work, done, back, ...words }) {
    const given = await ask(words);
    if (!given) return;
    await trying(async () => {
      await work(given);
      toast(done(given), { undo: back && (() => trying(back).then((undone) => undone && toast("Undone."))) });
    });
  }

  const acts = { ...armActs(model, call), ...trialActs(model, call) };
  return Object.fromEntries(
    Object.entries(acts).map(([name, plan]) => [
      name,
      (...about) =>
        trying(async () => {
          const planned = await plan(...about);
          if (planned) await offer(planned);
        }),
    ]),
  );
}
