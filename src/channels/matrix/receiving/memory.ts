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

  taken(roomId: string, eventId: string): Taken | undefined {
    const taken = this.#taken.get(eventId);
    return taken?.chatId === roomId ? taken : undefined;
  }

  /** Of its room alone: what is said elsewhere about an event counts for nothing. */
  keep(roomId: string, event: MatrixEvent): void {
    this.#events.set(keyOf(roomId, event.event_id), event);
  }

  /** Its author has put another text into it. */
  replace(roomId: string, eventId: string, { sender, content: { "m.new_content": next } }: MatrixEvent): void {
    const key = keyOf(roomId, eventId);
    const known = this.#events.get(key);
    if (known === undefined || known.sender !== sender || next === undefined) return;
    this.#events.set(key, { ...known, content: { ...known.content, ...next } });
  }

  forget(roomId: string, eventId: string): void {
    this.#events.delete(keyOf(roomId, eventId));
  }

  event(roomId: string, eventId: string): MatrixEvent | undefined {
    return this.#events.get(keyOf(roomId, eventId));
  }
}

function keyOf(roomId: string, eventId: string): string {
  return `${roomId} ${eventId}`;
}
