import type { EventOf } from "../../../events/event.js";
import { type Api, Unauthorized } from "../../gateway/api.js";
import type { Store } from "../../store.js";
import type { InboxList } from "./inbox-items.js";
import { parseInbox } from "./parse-inbox.js";

interface InboxOptions {
  readonly store: Store;
  readonly api: Pick<Api, "get">;
  /** What has come since the list was read the last time. */
  onNew(items: InboxList["items"]): void;
  onFailure(error: unknown): void;
}

/** Several changes that come together are read once. */
const pauseMs = 300;
/** For what no event tells, e.g. on another node. */
const lookMs = 60_000;
/** A clock that is a little ahead of the gateway's must not look too early. */
const expirySlackMs = 1000;

/** Settings of the gateway whose change is a change of the inbox. */
const inboxKeys = new Set(["pairing", "pairing_request", "dead_letter", "inbox"]);

/** What waits for a person, kept up to date in the store. */
export class Inbox {
  readonly #options: InboxOptions;
  /** What was there when the list was read the last time; unknown before the first time. */
  #known: ReadonlySet<string> | undefined;
  #soon: ReturnType<typeof setTimeout> | undefined;
  #later: ReturnType<typeof setTimeout> | undefined;

  constructor(options: InboxOptions) {
    this.#options = options;
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && this.#known !== undefined) void this.refresh();
    });
  }

  /** Something has happened that may have changed it. */
  refreshSoon(): void {
    this.#soon ??= setTimeout(() => void this.refresh(), pauseMs);
  }

  onSetting({ payload }: EventOf<"settings_changed">): void {
    if (payload.scope === "gateway" && inboxKeys.has(payload.key)) this.refreshSoon();
  }

  /** Never rejects: the next look comes. */
  async refresh(): Promise<void> {
    clearTimeout(this.#soon);
    this.#soon = undefined;
    try {
      this.#take(parseInbox(await this.#options.api.get("api/inbox")));
    } catch (error) {
      if (error instanceof Unauthorized) this.#options.onFailure(error);
    }
    this.#lookLater();
  }

  /** Shows none until it is read again. */
  clear(): void {
    clearTimeout(this.#soon);
    clearTimeout(this.#later);
    this.#soon = undefined;
    this.#known = undefined;
    this.#options.store.put({ inbox: undefined });
  }

  #take(list: InboxList): void {
    const known = this.#known;
    this.#known = new Set(list.items.map(({ id }) => id));
    const before = this.#options.store.known.inbox;
    // Cards that are drawn again for nothing would cost what somebody is writing there.
    if (JSON.stringify(before) !== JSON.stringify(list)) this.#options.store.put({ inbox: list });
    const fresh = known === undefined ? [] : list.items.filter(({ id }) => !known.has(id));
    if (fresh.length > 0) this.#options.onNew(fresh);
  }

  /** When the next question or code runs out, at the latest after a minute. */
  #lookLater(): void {
    clearTimeout(this.#later);
    const ends = (this.#options.store.known.inbox?.items ?? [])
      .map(({ expiresAt }) => Date.parse(expiresAt) + expirySlackMs - Date.now())
      .filter((ms) => ms > 0);
    this.#later = setTimeout(() => void this.refresh(), Math.max(expirySlackMs, Math.min(lookMs, ...ends)));
  }
}
