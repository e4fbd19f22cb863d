import { LRUCache } from "lru-cache";
import type { ReceivedMessage } from "../channel.js";
import { IntakeMemory } from "../intake/memory.js";

const most = 4000;

/** Who has written a message, and where. */
export type Author = Pick<ReceivedMessage, "chatId" | "thread" | "chatType" | "senderId" | "dedupId">;

/** What was heard and said lately. */
export class Memory extends IntakeMemory {
  readonly #authors = new LRUCache<string, Author>({ max: most });
  readonly #takenBack = new LRUCache<string, true>({ max: most });
  readonly #own = new LRUCache<string, string>({ max: most });

  noteAuthor(id: string, author: Author): void {
    this.#authors.set(id, author);
  }

  authorOf(id: string): Author | undefined {
    return this.#authors.get(id);
  }

  /** It was taken back before it was heard. */
  noteTakenBack(id: string): void {
    this.#takenBack.set(id, true);
  }

  wasTakenBack(id: string): boolean {
    return this.#takenBack.has(id);
  }

  /** A message of ours, and what is in it: Feishu does not give the text of a card back. */
  noteOwn(id: string, text: string): void {
    this.#own.set(id, text);
  }

  ownText(id: string): string | undefined {
    return this.#own.get(id);
  }
}
