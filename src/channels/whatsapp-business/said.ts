import { LRUCache } from "lru-cache";

/** What was said in a message. */
interface Said {
  readonly chatId: string;
  readonly text: string;
  readonly isOurs: boolean;
}

const mostMessages = 1000;
const mostChats = 5000;
export const windowMs = 24 * 3600 * 1000;

/**
 * What was said lately, because WhatsApp names a quoted message only by its id, and when each person wrote last. In memory:
 * after a restart less is known.
 */
export class SaidLately {
  readonly #messages = new LRUCache<string, Said>({ max: mostMessages });
  readonly #last = new LRUCache<string, { readonly id: string; readonly at: number }>({ max: mostChats });

  note(messageId: string, said: Said): void {
    this.#messages.set(messageId, said);
  }

  /** `at`: Unix ms. */
  noteHeard(chatId: string, messageId: string, at: number): void {
    const known = this.#last.get(chatId);
    if (known === undefined || at >= known.at) this.#last.set(chatId, { id: messageId, at });
  }

  find(messageId: string, chatId: string): Said | undefined {
    const said = this.#messages.get(messageId);
    return said?.chatId === chatId ? said : undefined;
  }

  /** The message that this person has written last, as far as it is known. */
  lastOf(chatId: string): string | undefined {
    return this.#last.get(chatId)?.id;
  }

  /** True: it is known that this person last wrote more than 24 hours ago. */
  isWindowClosed(chatId: string, now = Date.now()): boolean {
    const last = this.#last.get(chatId);
    return last !== undefined && now - last.at > windowMs;
  }

  forget(chatId: string): void {
    for (const [id, said] of this.#messages.entries()) if (said.chatId === chatId) this.#messages.delete(id);
  }
}
