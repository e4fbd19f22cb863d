import { messagesOf } from "../../support/rules/wire-messages.js";
import type { RecordedRequest, ScriptedAnswer, ScriptedToolCall } from "../../support/worlds/model-script.js";

/**
 * What people of a crowd say. Each text carries a marker `#c<chat>.<n>`, unique in its world. `plain` is answered at once,
 * `delegate` starts a sub-agent whose result is told, `ask` asks the person back, `huge` is for a model without
 * end, `vain` may be left out with a word.
 */
export type CrowdKind = "plain" | "delegate" | "ask" | "huge" | "vain";

export function crowdText(kind: CrowdKind, chat: number, n: number): string {
  return `${kind} #c${chat}.${n}`;
}

const words = /(plain|delegate|ask|huge|found|vain) (#c\d+\.\d+)/g;
const childMark = "[You are a sub-agent.";

/** The model of a crowd: its last text of a turn names all that it answers. */
export function crowdAnswer(request: RecordedRequest): ScriptedAnswer {
  if (request.userText.includes(childMark)) {
    const [marker = ""] = /#c\d+\.\d+/.exec(request.userText) ?? [];
    return { text: `found ${marker}` };
  }
  const messages = messagesOf(request);
  const lastFinal = messages.findLastIndex(({ role, tool_calls }) => role === "assistant" && tool_calls === undefined);
  const open = messages.slice(lastFinal + 1);
  const asked = open
    .filter(({ role }) => role === "user")
    .flatMap(({ content }) => [...JSON.stringify(content).matchAll(words)])
    .map(([, kind = "", marker = ""]) => ({ kind, marker }));
  const made = JSON.stringify(open.map(({ tool_calls }) => tool_calls ?? []));
  const calls = asked
    .flatMap(({ kind, marker }) => callFor(kind, marker) ?? [])
    .filter(({ id }) => !made.includes(`"${id}"`));
  if (calls.length > 0) return { toolCalls: calls };
  return { text: ["done ", asked.map(({ marker }) => marker).join(" ")] };
}

/** The same, each after a while: at any moment many are under way. */
export function slowAnswer(random: () => number, mostMs: number): (request: RecordedRequest) => ScriptedAnswer {
  return (request) => ({ ...crowdAnswer(request), delayMs: Math.floor(random() * mostMs) });
}

function callFor(kind: string, marker: string): (ScriptedToolCall & { readonly id: string }) | undefined {
  if (kind === "delegate")
    return { id: `${marker}-spawn`, name: "spawn", input: { action: "start", task: `look ${marker}` } };
  if (kind === "ask") return { id: `${marker}-ask`, name: "ask_human", input: { question: `Which one, ${marker}?` } };
  return undefined;
}
