import type { GatewayEvent } from "../../../events/event.js";
import type { Logger } from "../../../log.js";
import type { Publication, Session } from "./session-table.js";

/** Publishes each session's events strictly in order; what waits for a sync holds up only its own session. */
export class Publisher {
  readonly #publish: (event: GatewayEvent) => void;
  readonly #log: Logger;

  constructor(publish: (event: GatewayEvent) => void, log: Logger) {
    this.#publish = publish;
    this.#log = log;
  }

  /**
   * Takes the next place in the session's order. The events go out once the returned function was called and the events
   * before them are out; its promise resolves then.
   */
  enqueue(session: Session, events: readonly GatewayEvent[]): () => Promise<void> {
    if (events.length === 0) return () => Promise.resolve();
    const publication: Publication = { events, isReady: false, onPublished: undefined };
    session.unpublished.push(publication);
    return () => {
      const published = new Promise<void>((resolve) => {
        publication.onPublished = resolve;
      });
      publication.isReady = true;
      this.#drain(session);
      return published;
    };
  }

  #drain(session: Session): void {
    // A subscriber may append: its events go out after the ones that are on their way.
    if (session.isPublishing) return;
    session.isPublishing = true;
    while (session.unpublished[0]?.isReady === true) {
      const next = session.unpublished.shift();
      for (const event of next?.events ?? []) {
        try {
          this.#publish(event);
        } catch (error) {
          this.#log.error("publishing an event failed; it is stored all the same", { type: event.type, error });
        }
      }
      next?.onPublished?.();
    }
    session.isPublishing = false;
  }
}
