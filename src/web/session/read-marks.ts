import type { Client } from "../../client/client.js";
import type { Store } from "../store.js";

/** Between two marks, while an answer grows. */
const pauseMs = 1000;

/** Tells the gateway up to where the owner has read each chat that was open while the page was in sight. */
export class ReadMarks {
  readonly #client: () => Client | undefined;
  readonly #store: Store;
  /** By session, what the gateway was told last. */
  readonly #told = new Map<string, number>();
  /** By session, what it is to be told. */
  readonly #seen = new Map<string, number>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(store: Store, client: () => Client | undefined) {
    this.#store = store;
    this.#client = client;
    store.watch(["session"], () => this.#look());
    document.addEventListener("visibilitychange", () => this.#look());
  }

  #look(): void {
    const { session } = this.#store.known;
    if (document.hidden || session === undefined || session.isLoading) return;
    const { sessionKey, lastSequence } = session.view;
    if (lastSequence <= (this.#told.get(sessionKey) ?? 0)) return;
    this.#seen.set(sessionKey, lastSequence);
    if (this.#timer === undefined) this.#tell();
  }

  #tell(): void {
    this.#timer = undefined;
    if (this.#seen.size === 0) return;
    for (const [key, seq] of this.#seen) {
      this.#told.set(key, seq);
      // The next look at the chat tells it again.
      this.#client()
        ?.markRead(key, seq)
        .catch(() => this.#told.delete(key));
    }
    this.#seen.clear();
    this.#timer = setTimeout(() => this.#tell(), pauseMs);
  }
}
