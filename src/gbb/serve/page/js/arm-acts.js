// What one agent may play: forbid, pin and allow.

import { get, path } from "./api.js";
import { count, list } from "./format.js";

export function armActs(model, call) {
  const arms = () => model.network.arms;

  // What an agent may play now: the service knows, of large networks too.
  async function allowed(agent) {
    const { options } = await get(path(model.name, "agents", agent));
    return options.filter((option) => option.allowed).map((option) => option.arm);
  }

  async function restore(agent, before) {
    const without = arms().filter((arm) => !before.includes(arm));
    const done = await call("allow", { agents: [agent] });
    return without.length ? call("forbid", { agents: [agent], arms: without }) : done;
  }

  function opens() {
    const many = model.status.open?.length ?? 0;
    if (!many) return "";
    if (many === 1) return " The trial that is open keeps the arms it has.";
    return ` The ${count(many, "trial")} that are open keep the arms they have.`;
  }

  return {
    async forbid(agent, arm) {
      const before = await allowed(agent);
      const left = before.filter((each) => each !== arm);
      const says = left.length
        ? `From the next ask on, ${agent} does not play ${arm}. It is left with ${list(left)}.${opens()}`
        : `${agent} would have no arm left, so the service will refuse this. Allow it another arm first.`;
      return {
        title: `Forbid ${arm} for ${agent}?`,
        says,
        undo: `allowing ${arm} again`,
        act: "Forbid",
        work: () => call("forbid", { agents: [agent], arms: [arm] }),
        done: () => `${agent} does not play ${arm} from the next ask on.`,
        back: () => restore(agent, before),
      };
    },

    async pin(agent, arm) {
      const before = await allowed(agent);
      const others = arms().length === 2 ? "its other arm is" : "its other arms are";
      return {
        title: `Pin ${agent} to ${arm}?`,
        says: `From the next ask on, ${agent} plays ${arm} and nothing else; ${others} forbidden.${opens()}`,
        undo: `allowing ${list(before)} again`,
        act: "Pin",
        work: () => call("pin", { agents: [agent], arm }),
        done: () => `${agent} plays ${arm} from the next ask on.`,
        back: () => restore(agent, before),
      };
    },

    async allow(agent, arm) {
      const before = await allowed(agent);
      const what = arm === undefined ? "every arm" : arm;
      return {
        title: `Allow ${what} for ${agent}?`,
        says: `From the next ask on, ${agent} may play ${what} again. It does so only if the policy chooses it.`,
        undo: "forbidding again what is forbidden now",
        act: "Allow",
        work: () => call("allow", { agents: [agent], ...(arm === undefined ? {} : { arms: [arm] }) }),
        done: () => `${agent} may play ${what}.`,
        back: () => restore(agent, before),
      };
    },
  };
}
