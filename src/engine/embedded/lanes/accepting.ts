import type { Acceptance, AcceptOptions, Cursor, Work } from "../../engine.js";
import { frozenCopy } from "../../frozen-copy.js";
import type { Operation } from "../journal/operations.js";
import type { Written } from "../logs/writer.js";
import type { Parts } from "../parts.js";
import { assertRoom } from "./lane-room.js";

/** Takes work in, or notes that it is never taken. */
export class Accepting {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** `assertOpen`: asked once more when its turn has come. */
  async accept(work: Work, options: AcceptOptions, assertOpen: () => void): Promise<Acceptance> {
    const { records, journal, lanes, admission, boundary } = this.#parts;
    const written = await admission.enter(() => {
      assertOpen();
      return this.#write(work, options);
    });
    try {
      if (written !== undefined) boundary("accept:before-sync");
      // A duplicate counts as arrived only once the first one is durable.
      await journal.sync(written !== undefined);
      if (written === undefined) return { status: "duplicate" };
      boundary("accept:after-sync");
    } finally {
      admission.leave();
    }
    await written.publish();
    const item = records.work.item(work.queue, work.id);
    if (item !== undefined) lanes.makeAvailable(item);
    return { status: "accepted", events: await written.events() };
  }

  /** Remembers the ids of work that is never taken. */
  async refuse(work: Work<"inbound">, cursor: Cursor | undefined): Promise<boolean> {
    const { records, writer, journal, now } = this.#parts;
    if (records.hasSeen(work, now())) return false;
    const { queue, id } = work;
    writer.write([
      { o: "work", work: frozenCopy(work), at: now() },
      { o: "ack", queue, id },
      ...(cursor === undefined ? [] : [{ o: "cursor" as const, ...cursor }]),
    ]);
    await journal.sync();
    return true;
  }

  /** Undefined for a duplicate. */
  #write(work: Work, { events, cursor, isUrgent = false }: AcceptOptions): Written | undefined {
    const { records, writer, laneLimits, now } = this.#parts;
    if (records.hasSeen(work, now())) return undefined;
    assertRoom(records.work, work, laneLimits, isUrgent);
    const operations: Operation[] = [{ o: "work", work: frozenCopy(work), at: now() }];
    if (cursor !== undefined) operations.push({ o: "cursor", name: cursor.name, value: cursor.value });
    const drafts = typeof events === "function" ? events(this.#lengthOf(work)) : events;
    return writer.writeEvents(work.sessionKey, drafts, operations);
  }

  #lengthOf({ queue, key }: Work): number {
    return this.#parts.records.work.lane(queue, key)?.items.length ?? 0;
  }
}
