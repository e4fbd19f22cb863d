import { typesWhere } from "../events/catalogue.js";
import type { StoredEvent } from "../events/event.js";

/** What only tells how a turn goes on. */
export const detailTypes: ReadonlySet<string> = new Set(typesWhere((spec) => spec.detail));

/** Logs that were written since a moment, and turns that ended before another one. Both in Unix ms. */
export interface ThinSpan {
  readonly sinceMs: number;
  readonly beforeMs: number;
}

/** What leaving out old details has come to. */
export interface ThinReport {
  /** In bytes. */
  readonly freed: number;
  /** Logs that were not written again because of an error. */
  readonly failed: number;
}

/** How many numbers right before an event were left out of its log on purpose. */
export function droppedBefore({ seq, metadata }: StoredEvent): number {
  // Of whatever a file says.
  const value: unknown = metadata;
  if (typeof value !== "object" || value === null || !("dropped" in value)) return 0;
  const { dropped } = value;
  return typeof dropped === "number" && Number.isSafeInteger(dropped) ? Math.min(Math.max(dropped, 0), seq - 1) : 0;
}

export function withoutThinking(event: StoredEvent): StoredEvent {
  if (event.type !== "assistant_message") return event;
  const content = event.payload.content.filter((part) => part.type !== "thinking");
  return content.length === event.payload.content.length ? event : { ...event, payload: { ...event.payload, content } };
}

/** What is left out of a log, for the events that come after it. */
export class LeftOut {
  /** Each with what it followed from, among those that stay. */
  readonly #causes = new Map<string, string | undefined>();
  #count = 0;

  add(event: StoredEvent): void {
    this.#causes.set(event.event_id, this.#causeOf(event));
    this.#count += 1 + droppedBefore(event);
  }

  /** The event as it is written: the same one where nothing changes for it. */
  mend(event: StoredEvent): StoredEvent {
    const dropped = this.#count + droppedBefore(event);
    const cause = this.#causeOf(event);
    const isSame = this.#count === 0 && cause === event.causation_id;
    this.#count = 0;
    if (isSame) return event;
    const { causation_id: _cause, payload, metadata, ...rest } = event;
    // Its fields in their order; spreading hides that the type still goes with its payload.
    return {
      ...rest,
      ...(cause === undefined ? {} : { causation_id: cause }),
      payload,
      metadata: { ...metadata, ...(dropped === 0 ? {} : { dropped }) },
    } as StoredEvent;
  }

  #causeOf({ causation_id: cause }: StoredEvent): string | undefined {
    return cause !== undefined && this.#causes.has(cause) ? this.#causes.get(cause) : cause;
  }
}
