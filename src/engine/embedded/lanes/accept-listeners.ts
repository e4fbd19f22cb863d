import type { Logger } from "../../../log.js";
import type { StoredWork } from "../../engine.js";
import { toStored, type WorkItem } from "./work-table.js";

type Listener = (work: StoredWork<"inbound">) => void;

/** Who wants to hear of new inbound work of a session. */
export class AcceptListeners {
  readonly #bySession = new Map<string, Set<Listener>>();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  add(sessionKey: string, listener: Listener): () => void {
    const listeners = this.#bySession.get(sessionKey) ?? new Set();
    listeners.add(listener);
    this.#bySession.set(sessionKey, listeners);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#bySession.get(sessionKey) === listeners) this.#bySession.delete(sessionKey);
    };
  }

  tell(item: WorkItem): void {
    if (item.work.queue !== "inbound") return;
    for (const listener of [...(this.#bySession.get(item.work.sessionKey) ?? [])]) {
      try {
        // The queue decides the kind of body, which a plain union does not show to the compiler.
        listener(toStored(item) as StoredWork<"inbound">);
      } catch (error) {
        this.#log.error("a listener for accepted work failed", { session: item.work.sessionKey, error });
      }
    }
  }
}
