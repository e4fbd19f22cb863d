import type { EmbeddedEngine } from "../../../src/engine/embedded/embedded-engine.js";
import type { Payload } from "../../../src/events/catalogue.js";
import { draft, type EventDraft } from "../../../src/events/event.js";
import { answered, queued, sessionOf } from "./engine-kit.js";

const usage = { input_tokens: 10, output_tokens: 3, cache_read_tokens: 0, cache_write_tokens: 0 };
type State = Payload<"agent_state_changed">["from"];

/** A turn as an agent writes it, each event with the one before as its cause; `isOpen`: without its end. */
export function turnDrafts(id: string, { isOpen = false } = {}): readonly EventDraft[] {
  const context = { source: "agent", turn_id: `turn_${id}`, correlation_id: id };
  const state = (from: State, to: State): EventDraft =>
    draft("agent_state_changed", { from, to, cause: "test" }, context);
  const drafts = [
    queued(id),
    draft("turn_execution_start", { message_ids: [id], queued_ms: 0, attempt: 1 }, context),
    draft(
      "user_message",
      { message_id: id, content: [{ type: "text", text: `text of ${id}` }], iteration: 1 },
      context,
    ),
    state("idle", "thinking"),
    draft("turn_iteration_start", { iteration: 1, max_iterations: 9, model: "test" }, context),
    state("thinking", "responding"),
    draft(
      "assistant_message",
      {
        message_id: `answer_${id}`,
        content: [
          { type: "thinking", text: `a thought about ${id}` },
          { type: "text", text: `answer to ${id}` },
        ],
        model: "test",
        iteration: 1,
        stop_reason: "end_turn",
        usage,
        cost_usd: 0.25,
        final: true,
        partial: false,
      },
      context,
    ),
    state("responding", "idle"),
    { ...answered([id]), turn_id: `turn_${id}`, correlation_id: id },
  ];
  const caused: EventDraft[] = [];
  for (const each of isOpen ? drafts.slice(0, -2) : drafts) {
    const cause = caused.at(-1)?.event_id;
    caused.push(cause === undefined ? each : { ...each, causation_id: cause });
  }
  return caused;
}

export async function addTurns(engine: EmbeddedEngine, ids: readonly string[], key = sessionOf): Promise<void> {
  for (const id of ids) await engine.append(key, turnDrafts(id), { durable: false });
  await engine.flush();
}
