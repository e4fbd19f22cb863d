import { ns } from "./namespaces.js";
import type { Session } from "./stream/session.js";
import { xml } from "./stream/xml.js";

/** The sign that an answer is being written (XEP-0085). People's programs show it until it is taken back. */
export class Typing {
  readonly #shown = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #longestMs: number;

  /** So long after the last call it is taken back. */
  constructor(longestMs: number) {
    this.#longestMs = longestMs;
  }

  /** @throws {ChannelError} the connection is not open */
  show(session: Session, chatId: string): void {
    this.end(chatId);
    session.send(signTo(chatId, "composing"));
    const timer = setTimeout(() => {
      this.#shown.delete(chatId);
      try {
        session.send(signTo(chatId, "paused"));
      } catch {
        // The connection is gone, and the sign with it.
      }
    }, this.#longestMs);
    timer.unref();
    this.#shown.set(chatId, timer);
  }

  /** A message has taken it back, or takes it back now. */
  end(chatId: string): void {
    clearTimeout(this.#shown.get(chatId));
    this.#shown.delete(chatId);
  }

  forget(): void {
    for (const chatId of [...this.#shown.keys()]) this.end(chatId);
  }
}

function signTo(chatId: string, state: "composing" | "paused") {
  return xml("message", ns.client, { to: chatId, type: "chat" }, xml(state, ns.states), xml("no-store", ns.hints));
}
