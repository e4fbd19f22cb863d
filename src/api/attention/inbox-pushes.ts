import type { Records } from "../../engine/engine.js";
import { messageOf } from "../../errors.js";
import type { EventConsumer } from "../../events/bus/system-bus.js";
import type { EventType } from "../../events/catalogue.js";
import { inboxEvents } from "../../events/inbox-events.js";
import type { Logger } from "../../log.js";
import type { PushContent, PushOutcome } from "../../push/send.js";
import type { Subscription, Subscriptions } from "../../push/subscriptions.js";
import { Background } from "../../util/async/background.js";
import { settledWithin } from "../../util/async/within.js";
import type { InboxApi, InboxItem } from "../inbox/inbox-api.js";
import { noticeOf } from "./notice.js";
import type { Presence } from "./presence.js";

export interface InboxPushPorts {
  readonly inbox: Pick<InboxApi, "list">;
  readonly presence: Presence;
  readonly subscriptions: Pick<Subscriptions, "all" | "remove">;
  /** Never rejects, except with the signal's reason. */
  readonly send: (to: Subscription, content: PushContent, signal: AbortSignal) => Promise<PushOutcome>;
  /** Of each thing that waits, whether it was pushed. */
  readonly pushed: Records;
  /** True for a device that is signed out. */
  readonly isStrange: (device: string) => boolean;
  readonly mask: (text: string) => string;
  readonly now: () => number;
  readonly log: Logger;
}

/** Strangers come and go with settings of the gateway. */
const causes: readonly EventType[] = [...inboxEvents, "settings_changed"];

/** What comes together is looked at once. */
const pauseMs = 300;
/** While somebody looks at the page: whether they still do. */
const againMs = 15_000;
/** As many as the page shows at a time. */
const mostAtOnce = 5;
const daySeconds = 86_400;
/** So long a stop waits for the answers of push services. */
const lastAnswersMs = 1000;

/** Pushes what waits for a person to the devices that want it, while nobody looks at the page. Each thing once. */
export class InboxPushes {
  readonly #ports: InboxPushPorts;
  readonly #stop = new AbortController();
  readonly #work: Background;
  readonly #underWay = new Set<string>();
  #next: { readonly at: number; readonly timer: ReturnType<typeof setTimeout> } | undefined;

  constructor(ports: InboxPushPorts) {
    this.#ports = ports;
    this.#work = new Background((error) => {
      if (!this.#stop.signal.aborted) ports.log.warn(`What waits could not be pushed: ${messageOf(error)}`);
    });
  }

  /** Returns the end of it. */
  start(bus: EventConsumer): () => Promise<void> {
    const onChange = (): void => this.#lookIn(pauseMs);
    const undo = [bus.on(causes, onChange), this.#ports.presence.onLeft(onChange)];
    this.#lookIn(pauseMs);
    return async () => {
      for (const each of undo) each();
      clearTimeout(this.#next?.timer);
      // What has left is noted when it is answered, so that it does not go out again with the next start.
      await settledWithin(this.#work.settled(), { ms: lastAnswersMs });
      clearTimeout(this.#next?.timer);
      this.#stop.abort(new DOMException("The gateway is stopping", "AbortError"));
      await this.#work.settled();
    };
  }

  #lookIn(ms: number): void {
    const at = Date.now() + ms;
    if (this.#stop.signal.aborted || (this.#next !== undefined && this.#next.at <= at)) return;
    clearTimeout(this.#next?.timer);
    const timer = setTimeout(() => {
      this.#next = undefined;
      this.#work.own(this.#look());
    }, ms);
    timer.unref();
    this.#next = { at, timer };
  }

  async #look(): Promise<void> {
    const { inbox, presence, subscriptions, pushed, now } = this.#ports;
    if (subscriptions.all().length === 0) return;
    // Before it is read: what was answered until they left is not in it.
    if (presence.isThere) return this.#lookIn(againMs);
    const { items } = await inbox.list();
    const waiting = new Set(items.map(({ id }) => id));
    // Questions are open again only some time after a start.
    const isOver = (at: unknown): boolean => now() - Number(at) > daySeconds * 1000;
    for (const { id, value } of pushed.list()) if (!waiting.has(id) && isOver(value)) await pushed.delete(id);
    const fresh = items.filter(({ id }) => pushed.get(id) === undefined && !this.#underWay.has(id));
    if (fresh.length === 0) return;
    for (const item of fresh.slice(0, mostAtOnce)) this.#work.own(this.#push(item));
    if (fresh.length > mostAtOnce) this.#lookIn(againMs);
  }

  /** It counts as pushed once it is: after a crash the same tag takes the place of the first one, silently. */
  async #push(item: InboxItem): Promise<void> {
    const { subscriptions, pushed, now } = this.#ports;
    const since = Date.parse(item.at);
    this.#underWay.add(item.id);
    try {
      // What waited before somebody subscribed is not new to them.
      const wanted = subscriptions.all().filter((each) => each.since <= since);
      await Promise.all(wanted.map((to) => this.#send(to, item)));
      await pushed.put(item.id, now());
    } finally {
      this.#underWay.delete(item.id);
    }
  }

  async #send(to: Subscription, item: InboxItem): Promise<void> {
    const { send, subscriptions, mask, now, log } = this.#ports;
    const { language, quietNights, endpoint, device } = to;
    if (this.#ports.isStrange(device)) return await subscriptions.remove(endpoint);
    const plain = Buffer.from(JSON.stringify({ ...noticeOf(item, mask), language, quietNights }));
    const isUrgent = item.kind === "question" || item.kind === "approval";
    const leftMs = "expiresAt" in item ? Date.parse(item.expiresAt) - now() : Number.POSITIVE_INFINITY;
    const ttlSeconds = Math.max(1, Math.min(daySeconds, Math.ceil(leftMs / 1000)));
    const outcome = await send(to, { plain, ttlSeconds, isUrgent }, this.#stop.signal);
    if (outcome.status === "gone") await subscriptions.remove(endpoint);
    // The endpoint itself is a secret between the gateway and the push service.
    if (outcome.status === "failed")
      log.warn(`What waits could not be pushed to a device: ${outcome.why}`, { device, item: item.id });
  }
}
