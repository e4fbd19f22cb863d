import { LRUCache } from "lru-cache";
import { z } from "zod";
import { messageOf } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import { Background } from "../../../util/async/background.js";
import { type LinkedAbort, linked } from "../../../util/async/linked.js";
import { sleep } from "../../../util/async/sleep.js";
import type { OwnChannelContext, Publish } from "../../channel.js";
import { Inbox } from "../../intake/inbox.js";
import type { Account, Bot } from "../account.js";
import { title } from "../feishu-error.js";
import type { Memory } from "../memory.js";
import { messageInEvent, type Where } from "../message.js";
import type { Places } from "../places.js";
import type { Sender } from "../send.js";
import { eventIn, type FeishuEvent, openBody } from "./envelope.js";
import { Intake } from "./intake.js";
import { readPress, toastOf } from "./press.js";

export interface ReceivingOptions {
  readonly account: Account;
  readonly bot: Bot;
  readonly encryptKey: string | undefined;
  readonly places: Places;
  readonly memory: Memory;
  readonly sender: Sender;
  readonly publish: Publish;
  readonly context: OwnChannelContext;
  readonly spans: ReceivingSpans;
  readonly log: Logger;
}

export interface ReceivingSpans {
  /** Between two looks into history for what no event has told about. */
  readonly lookMs: number;
  /** So old a message must be then. */
  readonly graceMs: number;
  readonly busyRetryMs?: number | undefined;
}

const recalled = z.looseObject({ message_id: z.string().min(1) });

const readsAtOnce = 2;
const mostPresses = 2000;
/** The liveliest places are looked at. */
const lookedAt = 5;
/** A connection that brings nothing makes room for another at most so often. */
const renewMs = 600_000;
const nothing = {};

/** What comes in during one run, whichever way: messages, what is taken back, pressed buttons. */
export class Receiving implements AsyncDisposable {
  readonly #options: ReceivingOptions;
  /** Aborts when the run ends for whatever reason. */
  readonly #leaving: LinkedAbort;
  readonly #inbox: Inbox;
  readonly #intake: Intake;
  readonly #asides: Background;
  readonly #presses = new LRUCache<string, Promise<object>>({ max: mostPresses });
  #renewedAt = 0;

  constructor(options: ReceivingOptions, signal: AbortSignal) {
    const { account, bot, places, memory, sender, publish, context, spans, log } = options;
    this.#options = options;
    this.#leaving = linked(signal);
    const { signal: leaving } = this.#leaving;
    const { actsAtOnce } = context;
    const tell: ConstructorParameters<typeof Inbox>[0]["tell"] = (to, text) => sender.tell(to, text, leaving);
    this.#inbox = new Inbox({ title, publish, actsAtOnce, tell, busyRetryMs: spans.busyRetryMs, log }, leaving);
    this.#intake = new Intake({ account, bot, places, memory, inbox: this.#inbox, actsAtOnce, log }, leaving);
    this.#asides = new Background((error) => {
      if (!leaving.aborted) log.warn("something on Feishu was not done", { error: messageOf(error) });
    });
  }

  /** Aborts with the end of the run. */
  get signal(): AbortSignal {
    return this.#leaving.signal;
  }

  /** What to answer, once it is settled. Undefined: it must come again. Never rejects. */
  async takePayload(payload: Uint8Array): Promise<object | undefined> {
    const event = eventIn(openBody(payload, this.#options.encryptKey));
    if (event !== undefined) return await this.takeEvent(event);
    this.#options.log.debug("Feishu brought something that is not an event");
    return nothing;
  }

  /** The same for an event. */
  async takeEvent({ id, type, event }: FeishuEvent): Promise<object | undefined> {
    const { log } = this.#options;
    try {
      if (type === "im.message.receive_v1") return (await this.#takeMessage(event)) ? nothing : undefined;
      if (type === "im.message.recalled_v1") return (await this.#takeRecall(event)) ? nothing : undefined;
      if (type === "card.action.trigger") return await this.#takePress(id, event);
      log.debug("Feishu brought an event of another kind", { type });
      return nothing;
    } catch (error) {
      log.error("an event of Feishu could not be taken", { type, error });
      return undefined;
    }
  }

  /** Reads what was missed everywhere, the liveliest places first. Goes on by itself. */
  catchUp(): void {
    this.#intake.beginAgain();
    const left = this.#options.places.newestFirst().values();
    const work = async (): Promise<void> => {
      for (const where of left) await this.#intake.catchUp(where);
    };
    for (let n = 0; n < readsAtOnce; n += 1) this.#asides.own(work());
  }

  /** Looks again and again for what no event has told about, until the run ends. `renew`: opens another connection. */
  look(renew: () => void): void {
    this.#asides.own(this.#lookAgain(renew));
  }

  async #lookAgain(renew: () => void): Promise<void> {
    const { places, spans, log } = this.#options;
    const { signal } = this.#leaving;
    while (!signal.aborted) {
      await sleep(spans.lookMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      this.#asides.own(places.write());
      await this.#readAll(this.#intake.behind);
      const looked = places.newestFirst().slice(0, lookedAt);
      const unheard = await this.#intake.findUnheard(looked, Date.now() - spans.graceMs);
      if (unheard.length === 0) continue;
      log.warn("Feishu has messages that no event has told about: they are read from history", {
        places: unheard.length,
      });
      await this.#readAll(unheard);
      if (Date.now() - this.#renewedAt < renewMs) continue;
      this.#renewedAt = Date.now();
      renew();
    }
  }

  async #readAll(places: readonly Where[]): Promise<void> {
    for (const where of places) await this.#intake.catchUp(where);
  }

  async #takeMessage(event: unknown): Promise<boolean> {
    const message = messageInEvent(event);
    if (message !== undefined) return await this.#intake.take(message);
    this.#options.log.warn("a message of Feishu cannot be read: it is not as documented");
    return true;
  }

  async #takeRecall(event: unknown): Promise<boolean> {
    const { data } = recalled.safeParse(event);
    return data === undefined || (await this.#intake.takeBack(data.message_id));
  }

  /** It waits for nothing that its chat has sent. The same press that comes again gets the same answer. */
  #takePress(id: string, event: unknown): Promise<object> {
    const press = readPress(event);
    if (press === undefined) return Promise.resolve(nothing);
    const known = id === "" ? undefined : this.#presses.get(id);
    if (known !== undefined) return known;
    const answer = this.#options.context.press(press).then(toastOf);
    if (id !== "") this.#presses.set(id, answer);
    return answer;
  }

  /** Resolves when nothing is under way any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#leaving.abort();
    this.#leaving[Symbol.dispose]();
    await this.#intake.settled();
    await this.#inbox.settled();
    await Promise.all([this.#options.places.write(true).catch(() => undefined), this.#asides.settled()]);
  }
}
