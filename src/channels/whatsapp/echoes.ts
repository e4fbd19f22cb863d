import { LRUCache } from "lru-cache";

const keptMs = 10 * 60_000;
const mostKept = 500;

/** What we have sent lately: the bridge brings it back as a message from the account itself. */
export class Echoes {
  readonly #texts = new LRUCache<string, true>({ max: mostKept, ttl: keptMs });

  note(chatId: string, text: string): void {
    this.#texts.set(keyOf(chatId, text), true);
  }

  noteId(messageId: string): void {
    this.#texts.set(messageId, true);
  }

  has(chatId: string, text: string, messageId: string): boolean {
    return this.#texts.has(keyOf(chatId, text)) || this.#texts.has(messageId);
  }
}

/** WhatsApp leaves out blanks around a text. */
function keyOf(chatId: string, text: string): string {
  return `${chatId}\n${text.trim()}`;
}
