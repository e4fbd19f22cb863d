import type { StoredEvent } from "../../../events/event.js";
import type { Operation } from "../journal/operations.js";
import type { LiveRecords } from "../state.js";

/**
 * Messages whose end a damaged journal does not hold, though a later message of their chat was begun with: a chat's messages are
 * worked on one after the other, so that these had ended. Sees each operation before it is applied to the records, in order.
 */
export class Overtaken {
  readonly #records: LiveRecords;
  readonly #ids = new Set<string>();

  constructor(records: LiveRecords) {
    this.#records = records;
  }

  get ids(): ReadonlySet<string> {
    return this.#ids;
  }

  note(operation: Operation): void {
    // What is begun with again had not ended.
    if (operation.o === "attempt" && operation.queue === "inbound") this.#ids.delete(operation.id);
    if (operation.o === "event") this.#noteEvent(operation.event);
  }

  #noteEvent(event: StoredEvent): void {
    if (event.type !== "turn_execution_start") return;
    const { message_ids: begun, attempt, queued_ms: queuedMs } = event.payload;
    const [first = ""] = begun;
    const known = this.#records.work.item("inbound", first)?.acceptedAt;
    // A later attempt counts its wait from another moment.
    const acceptedAt = known ?? (attempt === 1 ? Date.parse(event.timestamp) - queuedMs : Number.NEGATIVE_INFINITY);
    for (const { work, acceptedAt: before, attempts } of this.#records.work.all()) {
      const isEarlier = work.sessionKey === event.session_key && attempts > 0 && before < acceptedAt;
      if (work.queue === "inbound" && isEarlier && !begun.includes(work.id)) this.#ids.add(work.id);
    }
  }
}
