import { LRUCache } from "lru-cache";
import type { ReceivedMessage } from "../../channel.js";
import type { MatrixEvent } from "../event.js";

const mostSettled = 10_000;
const mostTaken = 4000;
const mostEvents = 500;

/** A message that was passed on: what a change of it needs. */
export type Taken = Omit<ReceivedMessage, "files" | "quotedFiles" | "quoted" | "content">;

/** What has been heard lately; outlives a run. */
export class IntakeMemory {
  readonly #settled = new LRUCache<string, true>({ max: mostSettled });
  readonly #taken = new LRUCache<string, Taken>({ max: mostTaken });
  readonly #events = new LRUCache<string, MatrixEvent>({ max: mostEvents });

  settle(eventId: string): void {
    this.#settled.set(eventId, true);
  }

  isSettled(eventId: string): boolean {
    return this.#settled.has(eventId);
  }

  take({
    files: _files,
    quotedFiles: _quotedFiles,
    quoted: _quoted,
    content: _content,
    ...taken
  }: ReceivedMessage): void {
    if (taken.platformMessageId !== undefined) this.#taken.set(taken.platformMessageId, taken);
  }

  taken(eventId: string): Taken | undefined {
    return this.#taken.get(eventId);
  }

  keep(event: MatrixEvent): void {
    this.#events.set(event.event_id, event);
  }

  /** Its author has put another text into it. */
  replace(eventId: string, { sender, content: { "m.new_content": next } }: MatrixEvent): void {
    const known = this.#events.get(eventId);
    if (known === undefined || known.sender !== sender || next === undefined) return;
    this.#events.set(eventId, { ...known, content: { ...known.content, ...next } });
  }

  forget(eventId: string): void {
    this.#events.delete(eventId);
  }

  event(eventId: string): MatrixEvent | undefined {
    return this.#events.get(eventId);
  }
}
