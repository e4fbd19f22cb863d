import { LRUCache } from "lru-cache";
import type { Arrived } from "../whatsapp.js";

/** What people wrote lately, for answers that quote it. */
export class SaidLately {
  readonly #messages = new LRUCache<string, Arrived["message"]>({ max: 1000 });

  note(message: Arrived["message"]): void {
    if (message.change === undefined) this.#messages.set(`${message.sender}\n${message.id}`, message);
    // The gateway names a chat by its phone number where it knows that.
    if (message.change === undefined && message.pn !== undefined)
      this.#messages.set(`${message.pn}\n${message.id}`, message);
  }

  find(chat: string, messageId: string): Arrived["message"] | undefined {
    return this.#messages.get(`${chat}\n${messageId}`);
  }
}
