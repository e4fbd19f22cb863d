import type { StatusView } from "./gateway/gateway-views.js";
import type { SessionListView } from "./panes/chats/session-list.js";
import type { InboxList } from "./panes/inbox/inbox-items.js";
import type { SessionState } from "./session/view-state.js";

/** What the page knows, each part replaced and never changed in place. */
export interface Known {
  /** The key of the chat that is open. */
  readonly current: string | undefined;
  /** What is known about that chat. */
  readonly session: SessionState | undefined;
  readonly chats: SessionListView;
  readonly status: StatusView | undefined;
  /** What waits for a person; `undefined` before it is read. */
  readonly inbox: InboxList | undefined;
  /** The chat that was deleted last, here or elsewhere. */
  readonly deleted: { readonly key: string } | undefined;
  /** When the next attempt to connect starts (Unix ms); `undefined` while there is a connection. */
  readonly nextAttemptAt: number | undefined;
}

interface Watcher {
  readonly parts: readonly (keyof Known)[];
  readonly draw: (known: Known) => void;
}

/** Holds what the page knows. What comes from the gateway is put here; anyone who shows a part of it watches that part. */
export class Store {
  #known: Known = {
    current: undefined,
    session: undefined,
    chats: { entries: [], total: 0 },
    status: undefined,
    inbox: undefined,
    deleted: undefined,
    nextAttemptAt: undefined,
  };
  readonly #watchers: Watcher[] = [];

  get known(): Known {
    return this.#known;
  }

  put(change: Partial<Known>): void {
    const before = this.#known;
    this.#known = { ...before, ...change };
    for (const { parts, draw } of [...this.#watchers])
      if (parts.some((part) => before[part] !== this.#known[part])) draw(this.#known);
  }

  /**
   * Calls `draw` after each change of one of these parts, in the order in which the watchers came, until the function
   * that it returns is called.
   */
  watch<K extends keyof Known>(parts: readonly K[], draw: (known: Pick<Known, K>) => void): () => void {
    const watcher = { parts, draw };
    this.#watchers.push(watcher);
    return () => void this.#watchers.splice(this.#watchers.indexOf(watcher), 1);
  }
}
