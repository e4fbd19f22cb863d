import { LRUCache } from "lru-cache";
import type { ReceivedMessage } from "../channel.js";

const most = 4000;

/** Who has written a message, and where. */
export type Author = Pick<ReceivedMessage, "chatId" | "thread" | "chatType" | "senderId" | "dedupId">;

/** What was heard and said lately. Outlives a run, but not the process. */
export class Memory {
  readonly #heard = new LRUCache<string, true>({ max: most });
  readonly #settled = new LRUCache<string, true>({ max: most });
  readonly #authors = new LRUCache<string, Author>({ max: most });
  readonly #own = new LRUCache<string, string>({ max: most });

  hear(id: string): void {
    this.#heard.set(id, true);
  }

  wasHeard(id: string): boolean {
    return this.#heard.has(id);
  }

  settle(id: string): void {
    this.#settled.set(id, true);
  }

  isSettled(id: string): boolean {
    return this.#settled.has(id);
  }

  noteAuthor(id: string, author: Author): void {
    this.#authors.set(id, author);
  }

  authorOf(id: string): Author | undefined {
    return this.#authors.get(id);
  }

  /** A message of ours, and what is in it: Feishu does not give the text of a card back. */
  noteOwn(id: string, text: string): void {
    this.#own.set(id, text);
  }

  ownText(id: string): string | undefined {
    return this.#own.get(id);
  }

  forget(isIn: (author: Author) => boolean): void {
    for (const [id, author] of this.#authors.entries()) if (isIn(author)) this.#authors.delete(id);
  }
}
