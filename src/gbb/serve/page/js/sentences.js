// Events in words.

import { count, list, number, whole } from "./format.js";

const WORDS = {
  create: ({ policy, graph }) =>
    `Started with ${policy?.kind ?? "a policy"} on ${count(graph?.n ?? 0, "agent")}.`,
  ask: ({ allocation, agents, context }) => {
    const arms = allocation ? Object.entries(allocation) : [];
    const shown = arms
      .slice(0, 4)
      .map(([agent, arm]) => `${agent} ${arm}`)
      .join(", ");
    const many = agents ?? arms.length;
    const rest = many > 4 ? ` and ${whole(many - 4)} more` : "";
    const known = context === undefined ? "" : `Context ${JSON.stringify(context)}. `;
    return `${known}${shown ? shown + rest : count(many, "agent")}.`;
  },
  tell: ({ told, total }) => `${count(told, "reward")}, ${number(total)} in all.`,
  fail: ({ reason }) => `Played, gave nothing.${because(reason)}`,
  abandon: ({ reason }) => `Not played.${because(reason)}`,
  timeout: () => "Nobody told it in time.",
  retract: ({ of, reason }) => `Took back event ${of}.${because(reason)}`,
  forbid: ({ agents, arms }) => `${names(agents)} may not play ${list(arms)}.`,
  pin: ({ agents, arms }) => `${names(agents)} must play ${list(arms)}.`,
  allow: ({ agents, arms }) => `${names(agents)} may play ${arms ? list(arms) : "every arm"} again.`,
  discount: ({ factor, gamma }) => `Everything told before counts ${number(factor ?? gamma)} times as much.`,
  policy: ({ policy }) => `${policy?.kind ?? "Another policy"} chooses from here on.`,
  graph: ({ graph }) => `Another graph: ${count(graph?.n ?? 0, "agent")}.`,
  warning: ({ message }) => message,
  alert: ({ alert, text }) => (text ? `${alert}: ${text}` : `${alert} is over.`),
};
WORDS.attach = WORDS.tell;

const names = (agents) =>
  agents === null || agents === undefined ? "All agents" : list([agents].flat().map(String));
const because = (reason) => (reason ? ` Reason: ${reason}.` : "");

export function tellEntry({ kind, content }) {
  const said = content && WORDS[kind]?.(content);
  if (said) return said;
  const text = JSON.stringify(content ?? {});
  return text.length > 240 ? `${text.slice(0, 240)} …` : text;
}
