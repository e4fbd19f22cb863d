import type { RecordedRequest, ScriptedAnswer } from "../support/worlds/model-script.js";

/**
 * What a request shows of the turn it belongs to. Every message of a person carries a mark `#<chat>.<n>`; texts that the
 * model writes for later (to a sub-agent, for a job) carry it behind a word that says so.
 */
export interface Asked {
  readonly kind: "turn" | "sub" | "job" | "told" | "summary";
  /** `#<chat>.<n>` */
  readonly mark: string;
  readonly chat: string;
  /** How many answers the model has given since, from 0. */
  readonly step: number;
  /** Everything that it reads. */
  readonly text: string;
  /** Of that what it is told before any message. */
  readonly instructions: string;
  /** The newest result of a tool. */
  readonly result: string;
  readonly tools: readonly string[];
}

interface WireMessage {
  readonly role: string;
  readonly content?: unknown;
}

const markPattern = /(?:\b(sub|job|told) )?#([a-z0-9]+)\.(\d+)/g;

export function readAsked(request: RecordedRequest): Asked {
  // Written by our own provider, which its contract suite checks.
  const messages = request.body.messages as readonly WireMessage[];
  const declared = (request.body.tools ?? []) as readonly { readonly function?: { readonly name?: string } }[];
  const at = messages.findLastIndex(({ role, content }) => role === "user" && marksOf(content).length > 0);
  const [kind = "turn", chat = "", n = "0"] = marksOf(messages[at]?.content).at(-1) ?? [];
  const since = messages.slice(at + 1);
  const result = messages.findLast(({ role }) => role === "tool")?.content;
  return {
    kind: textOf(messages[0]?.content).startsWith("You keep the memory of a long chat") ? "summary" : kind,
    mark: `#${chat}.${n}`,
    chat,
    step: since.filter(({ role }) => role === "assistant").length,
    text: request.bodyText,
    instructions: `${textOf(messages[0]?.role === "system" ? messages[0].content : "")} ${JSON.stringify(request.body.tools ?? [])}`,
    result: textOf(result),
    tools: declared.flatMap(({ function: one }) => one?.name ?? []),
  };
}

function marksOf(content: unknown): readonly (readonly [Asked["kind"], string, string])[] {
  return [...textOf(content).matchAll(markPattern)].map(([, kind = "turn", chat = "", n = ""]) => [
    // One of the words of the pattern, or the default.
    kind as Asked["kind"],
    chat,
    n,
  ]);
}

function textOf(content: unknown): string {
  return typeof content === "string" ? content : JSON.stringify(content ?? "");
}

/** The provider says that the conversation is too long: the gateway then has to summarise it. */
export const tooLong: ScriptedAnswer = {
  status: 400,
  body: {
    error: {
      message: "maximum context length exceeded",
      type: "invalid_request_error",
      code: "context_length_exceeded",
    },
  },
};
