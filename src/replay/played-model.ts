import type { InboundMessage } from "../bus/messages.js";
import type { Payload } from "../events/catalogue.js";
import { noUsage, type Usage } from "../events/content.js";
import type { StoredEvent } from "../events/event.js";
import type { ChosenModel, Provider, ProviderChunk } from "../providers/provider.js";
import type { Playhead } from "./played-tools.js";
import type { RecordedTurn } from "./recorded-turn.js";

type RecordedAnswer = Extract<StoredEvent, { type: "assistant_message" }>;

/** The model of a recorded turn, which says again what it said. `accept` is awaited for each message that came meanwhile. */
export function playModel(
  turn: RecordedTurn,
  playhead: Playhead,
  accept: (message: InboundMessage) => Promise<void>,
): ChosenModel {
  const answers = turn.events.filter((event): event is RecordedAnswer => {
    return event.type === "assistant_message" && event.source !== "gateway";
  });
  const begun = turn.events.find((event) => event.type === "turn_iteration_start");
  const label = answers[0]?.payload.model ?? (begun?.type === "turn_iteration_start" ? begun.payload.model : "none");
  const provider: Provider = {
    name: answers[0]?.source.replace(/^provider:/, "") ?? providerOf(turn),
    async *stream() {
      playhead.iteration += 1;
      const { iteration } = playhead;
      const answer = answers.find(({ payload }) => payload.iteration === iteration);
      const states = statesOf(turn, iteration);
      for (const message of turn.additions.get(iteration + 1) ?? []) await accept(message);
      yield* piecesOf(answer?.payload, states);
      yield answer === undefined ? emptyEnd(turn, answers) : endOf(answer.payload);
    },
  };
  return {
    provider,
    label,
    model: label,
    maxTokens: maxTokensOf(turn),
    contextWindow: Number.MAX_SAFE_INTEGER,
    temperature: undefined,
    thinking: undefined,
    price: undefined,
    supportsImages: true,
  };
}

/** A model that said nothing worth keeping is named by its states alone. */
function providerOf(turn: RecordedTurn): string {
  const named = turn.events.find(({ source }) => source.startsWith("provider:"));
  return named?.source.replace(/^provider:/, "") ?? "none";
}

function* piecesOf(
  answer: Payload<"assistant_message"> | undefined,
  states: readonly string[],
): Generator<ProviderChunk> {
  const content = answer?.content ?? [];
  // Blank text, and calls of an answer that was cut, leave no part behind; the agent went through their states.
  if (states.includes("responding") && !content.some(({ type }) => type === "text")) yield { kind: "text", text: " " };
  for (const part of content) {
    if (part.type === "text") yield { kind: "text", text: part.text };
    if (part.type === "thinking") {
      if (part.text !== "") yield { kind: "thinking", text: part.text };
      if (part.signature !== undefined) yield { kind: "thinking_signature", signature: part.signature };
    }
    if (part.type !== "tool_use") continue;
    yield { kind: "tool_call", id: part.id, name: part.name };
    yield { kind: "tool_input", id: part.id, json: part.invalid_json ?? JSON.stringify(part.input) };
  }
  if (states.includes("planning_tool") && !content.some(({ type }) => type === "tool_use"))
    yield { kind: "tool_call", id: "cut", name: "cut" };
}

function endOf({ stop_reason, usage }: Payload<"assistant_message">): ProviderChunk {
  if (stop_reason === "interrupted" || stop_reason === "error")
    throw new TypeError(`an answer that ended with ${stop_reason} is not whole`);
  return { kind: "end", stopReason: stop_reason, usage };
}

/** The end of an answer that left no message: what it cost is what the turn cost besides the others. */
function emptyEnd({ end }: RecordedTurn, answers: readonly RecordedAnswer[]): ProviderChunk {
  const rest = (field: keyof Usage): number =>
    answers.reduce((left, { payload }) => left - payload.usage[field], end.usage[field]);
  const usage = { ...noUsage };
  for (const field of Object.keys(noUsage) as (keyof Usage)[]) usage[field] = Math.max(0, rest(field));
  return { kind: "end", stopReason: end.stop_reason === "refusal" ? "refusal" : "end_turn", usage };
}

/** The states that the agent went through in an iteration, where the log has them. */
function statesOf({ events }: RecordedTurn, iteration: number): readonly string[] {
  let current = 0;
  const states: string[] = [];
  for (const event of events) {
    if (event.type === "turn_iteration_start") current = event.payload.iteration;
    if (event.type === "agent_state_changed" && current === iteration) states.push(event.payload.to);
  }
  return states;
}

/** Told only where an answer was cut at it. */
function maxTokensOf({ events }: RecordedTurn): number {
  for (const event of events) {
    if (event.type !== "outbound_delivery_changed") continue;
    const limit = /limit of (\d+) tokens/.exec(event.payload.content ?? "")?.[1];
    if (limit !== undefined) return Number(limit);
  }
  return 0;
}
