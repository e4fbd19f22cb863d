import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSystemBus } from "../../../../src/events/bus/system-bus.js";
import type { EventType, Payload } from "../../../../src/events/catalogue.js";
import { noUsage } from "../../../../src/events/content.js";
import { type DraftContext, draft, type StoredEvent } from "../../../../src/events/event.js";
import { SearchIndex } from "../../../../src/sessions/search/search-index.js";
import type { SessionSummary } from "../../../../src/sessions/session.js";
import { keepLog } from "../../../support/log.js";

const content = (text: string) => [{ type: "text" as const, text }];

/** Logs of sessions, and what is searched of them: one folder, and as many indexes in turn as there are starts. */
export class SearchWorld {
  readonly logs = new Map<string, StoredEvent[]>();
  readonly path = join(mkdtempSync(join(tmpdir(), "maxclaw-search-")), "search", "messages.txt");
  readonly log = keepLog();
  /** How often events were asked for. */
  reads = 0;
  readonly #bus = createSystemBus({ log: this.log });
  #time = Date.parse("2026-01-01T00:00:00.000Z");

  open(): SearchIndex {
    return new SearchIndex({
      engine: {
        events: async (key, { afterSeq, limit }) => {
          this.reads += 1;
          const log = this.logs.get(key) ?? [];
          const first = log[0]?.seq ?? 1;
          const from = Math.max(0, afterSeq - first + 1);
          return { events: log.slice(from, from + limit), hasMore: log.length > from + limit };
        },
      },
      bus: this.#bus.asConsumer(),
      sessions: {
        reached: async () => [...this.logs].map(([key, log]) => [key, log.at(-1)?.seq ?? 0] as const),
        summaries: async (keys) => new Map(keys.map((key) => [key, this.#summaryOf(key)])),
        exists: async (key) => this.logs.has(key),
      },
      path: this.path,
      log: this.log,
    });
  }

  tell<T extends EventType>(
    key: string,
    type: T,
    payload: Payload<T>,
    context: Partial<DraftContext> = {},
    isHeard = true,
  ): StoredEvent {
    const log = this.logs.get(key) ?? [];
    this.logs.set(key, log);
    this.#time += 1000;
    const event = {
      ...draft(type, payload, { source: "agent", ...context }),
      schema_version: "1.0",
      session_key: key,
      seq: (log.at(-1)?.seq ?? 0) + 1,
      timestamp: new Date(this.#time).toISOString(),
      metadata: { instance_id: "gw" },
      // The union is distributive over the type, which the generic argument hides.
    } as StoredEvent;
    log.push(event);
    if (isHeard) this.#bus.asProducer().emit(event);
    return event;
  }

  /** A turn of one message and its answer. */
  turn(key: string, question: string, answer: string, isHeard = true): string {
    const id = `m${this.logs.get(key)?.length ?? 0}`;
    const sender = { channel: "webui", chat_id: "1", sender_id: "owner", mode: "next" as const, position: 0 };
    this.tell(key, "user_message_queued", { message_id: id, content: content(question), ...sender }, {}, isHeard);
    const turn = { turn_id: `turn_${id}` };
    this.tell(key, "turn_execution_start", { message_ids: [id], queued_ms: 0, attempt: 1 }, turn, isHeard);
    this.tell(key, "user_message", { message_id: id, content: content(question), iteration: 1 }, turn, isHeard);
    const how = { model: "m", iteration: 1, stop_reason: "end_turn" as const, usage: noUsage };
    const message = { message_id: `a${id}`, content: content(answer), ...how, final: true, partial: false };
    this.tell(key, "assistant_message", message, turn, isHeard);
    const end = { message_id: `a${id}`, stop_reason: "end_turn" as const, iterations: 1, usage: noUsage };
    this.tell(
      key,
      "turn_execution_complete",
      { message_ids: [id], ...end, duration_ms: 1, tool_calls: [], errors: [] },
      turn,
      isHeard,
    );
    return id;
  }

  /** Takes everything back from this event on. */
  undo(key: string, toSeq: number): void {
    this.tell(key, "session_history_changed", { kind: "undo", to_seq: toSeq }, { turn_id: "turn_undo" });
  }

  title(key: string, title: string): void {
    this.tell(key, "session_title_generated", { title, generated_by: "user" });
  }

  #summaryOf(key: string): SessionSummary {
    const event = (this.logs.get(key) ?? []).findLast(({ type }) => type === "session_title_generated");
    const title = event?.type === "session_title_generated" ? event.payload.title : undefined;
    return { key, messageCount: 1, ...(title === undefined ? {} : { title }) };
  }
}
