import { messagesOf, type WireMessage } from "../support/rules/wire-messages.js";
import type { RecordedRequest, ScriptedAnswer } from "../support/worlds/model-script.js";

/**
 * What people say in the sweep and what the model makes of it. Each text carries a marker `#<chat>.<n>`, unique in its
 * world. `work` uses tools of all three effects, `plain` is answered at once, `poison` runs a tool that ends the process.
 */
export type Kind = "work" | "plain" | "poison";

export function textOf(kind: Kind, chat: string, n: number): string {
  return `${kind} #${chat}.${n}`;
}

/** `#<chat>.<n>` of a text. */
export function markerOf(text: string): string {
  return /#\w+\.\d+/.exec(text)?.[0] ?? text;
}

const marker = /(work|plain|poison) (#[a-z0-9]+\.\d+)/g;

/** What a request shows of the conversation it belongs to. */
export interface Asked {
  readonly chat: string;
  /** Which answer of the chat is asked for, from 1. */
  readonly answer: number;
  /** What the model reads as the results of its calls. */
  readonly results: ReadonlyMap<string, string>;
}

export function readAsked(request: RecordedRequest): Asked {
  const messages = messagesOf(request);
  const answers = messages.filter(({ role }) => role === "assistant");
  const results = new Map<string, string>();
  for (const { role, tool_call_id, content } of messages)
    if (role === "tool")
      results.set(String(tool_call_id), typeof content === "string" ? content : JSON.stringify(content));
  const [first] = markersIn(messages);
  return { chat: /#(\w+)\./.exec(first?.name ?? "")?.[1] ?? "", answer: answers.length + 1, results };
}

/** The model: two rounds of tools for work, then a final text that names every message it answers. */
export function answerTo(request: RecordedRequest): ScriptedAnswer {
  const messages = messagesOf(request);
  const lastFinal = messages.findLastIndex(({ role, tool_calls }) => role === "assistant" && tool_calls === undefined);
  const open = messages.slice(lastFinal + 1);
  const asked = markersIn(open);
  const rounds = open.filter(({ role }) => role === "assistant").length;
  const work = asked.find(({ kind }) => kind === "work")?.name;
  const poison = asked.find(({ kind }) => kind === "poison")?.name;
  if (poison !== undefined && rounds === 0) return { toolCalls: [{ id: `${poison}-die`, name: "die", input: {} }] };
  if (work !== undefined && rounds === 0)
    return {
      text: "I look at it.",
      toolCalls: [
        { id: `${work}-write`, name: "count_write", input: {} },
        { id: `${work}-again`, name: "count_again", input: {} },
      ],
    };
  if (work !== undefined && rounds === 1)
    return {
      thinking: "Two readings.",
      toolCalls: [
        { id: `${work}-read1`, name: "count_read", input: {} },
        { id: `${work}-read2`, name: "count_read", input: {} },
      ],
    };
  const all = asked.map(({ name }) => name).join(" ");
  return { text: ["done ", all, `\n${all} `, `is over\nbye ${all}`], chunkDelayMs: 1 };
}

function markersIn(messages: readonly WireMessage[]): readonly { readonly kind: string; readonly name: string }[] {
  return messages.flatMap(({ role, content }) =>
    role === "user"
      ? [...JSON.stringify(content).matchAll(marker)].map(([, kind = "", name = ""]) => ({ kind, name }))
      : [],
  );
}
