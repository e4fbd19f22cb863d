import type { CommandResults } from "../../../../../src/api/commands/commands-api.js";
import type { TurnOutcome } from "../../../../../src/api/messages/messages-api.js";
import { RequestError } from "../../../../../src/errors.js";
import { createSystemBus, type SystemBus } from "../../../../../src/events/bus/system-bus.js";
import { type EventType, type Payload, specOf } from "../../../../../src/events/catalogue.js";
import { textOf } from "../../../../../src/events/content.js";
import type { DraftContext, GatewayEvent, StoredEvent } from "../../../../../src/events/event.js";
import { openStreamSnapshots, type StreamSnapshots } from "../../../../../src/events/folds/stream-snapshots.js";
import { silentLog } from "../../../../../src/log.js";
import { newId } from "../../../../../src/util/ids.js";

/** Sessions that are arrays, over the real bus. */
export class MemoryLogs {
  readonly bus: SystemBus<CommandResults> = createSystemBus({ log: silentLog });
  readonly snapshots: StreamSnapshots = openStreamSnapshots(this.bus.asConsumer());
  readonly logs = new Map<string, StoredEvent[]>();
  readonly titles = new Map<string, string>();
  readonly #deltaIndex = new Map<string, number>();

  /** Begins the session where there is none. */
  of(key: string): StoredEvent[] {
    const log = this.logs.get(key) ?? [];
    this.logs.set(key, log);
    return log;
  }

  mustExist(key: string): readonly StoredEvent[] {
    const log = this.logs.get(key);
    if (log === undefined) throw new RequestError(`There is no session ${key}`, { status: 404, code: "not_found" });
    return log;
  }

  /** Gives the event its seq (if its type is stored), keeps it and publishes it. */
  tell<T extends EventType>(key: string, type: T, payload: Payload<T>, context: Partial<DraftContext>): GatewayEvent {
    const log = this.of(key);
    const { stored } = specOf(type);
    // The union is distributive over the type, which the generic argument hides.
    const event = Object.freeze({
      schema_version: "1.0",
      event_id: newId("evt"),
      type,
      session_key: key,
      seq: stored ? log.length + 1 : null,
      ...(stored ? {} : { after_seq: log.length }),
      ...this.#placeOf(key, type),
      timestamp: new Date().toISOString(),
      source: "agent",
      payload,
      metadata: { instance_id: "gw_test" },
      ...context,
    }) as unknown as GatewayEvent;
    if (stored) log.push(event as StoredEvent);
    this.bus.asProducer().emit(event);
    return event;
  }

  /** How the turn of this message ended, once it has. */
  outcomeOf(key: string, messageId: string): TurnOutcome | undefined {
    const log = this.logs.get(key) ?? [];
    for (const event of log) {
      if (event.type === "turn_execution_complete" && event.payload.message_ids.includes(messageId)) {
        const { message_id } = event.payload;
        const said = log.find((e) => e.type === "assistant_message" && e.payload.message_id === message_id);
        const response = said?.type === "assistant_message" ? textOf(said.payload.content) : "";
        return { end: "complete", response, turnId: event.turn_id ?? "" };
      }
      if (event.type === "turn_execution_failed" && event.payload.message_ids.includes(messageId))
        return { end: "failed", response: event.payload.message, turnId: event.turn_id ?? "" };
    }
    return undefined;
  }

  /** Which piece of its message a delta is. */
  #placeOf(key: string, type: EventType): { readonly delta_index?: number } {
    if (type === "message_stream_start") this.#deltaIndex.delete(key);
    if (type !== "text_delta" && type !== "thinking_delta" && type !== "tool_input_delta") return {};
    const index = this.#deltaIndex.get(key) ?? 0;
    this.#deltaIndex.set(key, index + 1);
    return { delta_index: index };
  }
}
