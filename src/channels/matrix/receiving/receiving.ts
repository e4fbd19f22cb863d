import { ChannelError, messageOf } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import { Background } from "../../../util/async/background.js";
import { type LinkedAbort, linked } from "../../../util/async/linked.js";
import { sleep } from "../../../util/async/sleep.js";
import type { OwnChannelContext, Publish, ReceivedMessage } from "../../channel.js";
import { Inbox } from "../../intake/inbox.js";
import { Position } from "../../intake/position.js";
import type { Account, Bot } from "../account.js";
import type { Encryption } from "../crypto/encryption.js";
import { codeOf, forRun, title } from "../matrix-error.js";
import type { Sending } from "../send.js";
import { parseBatch, type SyncBatch, syncFilter } from "./batch.js";
import { type Begin, Intake, mustComeAgain } from "./intake.js";
import { Invites } from "./invites.js";
import { Locked } from "./locked.js";
import { Marks } from "./marks.js";
import type { IntakeMemory } from "./memory.js";
import type { Heard, Progress } from "./progress.js";
import { Reader } from "./reader.js";

export interface ReceivingSpans {
  /** How long the homeserver may wait for something new. */
  readonly pollMs: number;
  /** Waited beyond it before it counts as hanging. */
  readonly graceMs: number;
  readonly busyRetryMs?: number | undefined;
  /** How long the key of a message may be late before its room is told. */
  readonly keyWaitMs: number;
}

export interface ReceivingOptions {
  readonly account: Account;
  readonly bot: Bot;
  readonly sending: Sending;
  readonly memory: IntakeMemory;
  readonly progress: Progress;
  /** Undefined: it is switched off. */
  readonly encryption: Encryption | undefined;
  readonly publish: Publish;
  readonly context: OwnChannelContext;
  /** Everybody's invitations are accepted. */
  readonly takesAll: boolean;
  readonly spans: ReceivingSpans;
  readonly log: Logger;
}

/** At the first start older messages are not answered. */
const newestMs = 3_600_000;
/** Clocks of homeservers differ. */
const clockMs = 60_000;
/** The first answer tells about all rooms. */
const firstMs = 120_000;
const timelineLimit = 50;
/** While more events wait, the homeserver is asked for nothing new. */
const mostOpen = 5000;
const lookMs = 250;
/** Words for a token that the homeserver does not know any more, for example after its database was restored. */
const lostTokens: ReadonlySet<string | undefined> = new Set(["M_UNKNOWN", "M_UNKNOWN_POS", "M_INVALID_PARAM"]);

/** What comes in during one run: asks the homeserver again and again, and keeps how far all of it is durable. */
export class Receiving implements AsyncDisposable {
  readonly #options: ReceivingOptions;
  /** Aborts when the run ends for whatever reason. */
  readonly #leaving: LinkedAbort;
  readonly #inbox: Inbox;
  readonly #intake: Intake;
  readonly #invites: Invites;
  readonly #marks: Marks;
  readonly #locked: Locked;
  readonly #position = new Position<Heard>();
  readonly #background: Background;
  #failure: unknown;

  constructor(options: ReceivingOptions, signal: AbortSignal) {
    const { account, bot, sending, memory, encryption, publish, context, spans, takesAll, log } = options;
    this.#options = options;
    this.#leaving = linked(signal);
    const { signal: leaving } = this.#leaving;
    this.#background = new Background((error) => this.#fail(error));
    const { actsAtOnce, mayTalk, press, records, commands } = context;
    const tell = (to: ReceivedMessage, text: string) => sending.tell(to, text, signal);
    this.#inbox = new Inbox({ title, publish, actsAtOnce, tell, busyRetryMs: spans.busyRetryMs, log }, leaving);
    const isWelcome = (sender: string, room: string) => takesAll || mayTalk === undefined || mayTalk(sender, room);
    this.#invites = new Invites({ account, bot, isWelcome, records, log }, leaving);
    this.#marks = new Marks(account, bot, sending, log, leaving);
    const tellLocked = (roomId: string, eventId: string) => this.#marks.onLocked(roomId, eventId);
    this.#locked = new Locked({ botId: bot.id, records, tell: tellLocked, waitMs: spans.keyWaitMs, log }, leaving);
    const reader = new Reader({ account, bot, memory, encryption, commands, log }, leaving);
    const parts = {
      reader,
      inbox: this.#inbox,
      invites: this.#invites,
      marks: this.#marks,
      encryption,
      locked: this.#locked,
    };
    this.#intake = new Intake({ account, bot, memory, press, log, ...parts }, leaving);
  }

  /** Resolves with the abort. @throws {ChannelError} */
  async run(onConnected: () => void): Promise<void> {
    const { signal } = this.#leaving;
    const { heard } = this.#options.progress;
    const after = heard === undefined ? Date.now() - newestMs : heard.at - clockMs;
    let begin: Begin = { since: heard?.token, after, isFirst: heard === undefined };
    let isEarly = true;
    try {
      while (!signal.aborted) {
        const batch = await this.#ask(begin.since, isEarly);
        if (batch === undefined) {
          begin = { ...begin, since: undefined };
          continue;
        }
        isEarly = false;
        onConnected();
        await this.#takeKeys(batch);
        this.#take(batch, begin);
        begin = { ...begin, since: batch.next };
        await this.#waitForRoom(onConnected);
      }
    } catch (error) {
      throw this.#failure ?? error;
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Undefined: the homeserver does not know `since` any more. @throws {ChannelError} */
  async #ask(since: string | undefined, isEarly: boolean): Promise<SyncBatch | undefined> {
    const { account, bot, spans, log } = this.#options;
    const { pollMs, graceMs } = spans;
    const query: Record<string, string> = {
      filter: syncFilter(timelineLimit),
      // What is there already tells that the connection works.
      timeout: isEarly ? "0" : String(pollMs),
      set_presence: "online",
    };
    if (since !== undefined) query.since = since;
    const ms = isEarly ? firstMs : pollMs + graceMs;
    try {
      const call = { path: "/client/v3/sync", query, ms, what: "what is new" };
      const batch = parseBatch(await account.api.call(call, this.#leaving.signal), bot.id);
      if (batch !== undefined) return batch;
    } catch (error) {
      if (since === undefined || !isEarly || !lostTokens.has(codeOf(error))) throw forRun(error);
      log.warn("the homeserver does not know any more what the bot has heard: its rooms are read by time", {
        error: messageOf(error),
      });
      return undefined;
    }
    throw new ChannelError("What answers is not a Matrix homeserver. Check channels.matrix.homeserver.", {
      retryable: true,
    });
  }

  /**
   * Keys come before what they open. The homeserver forgets them once it is asked for what is behind this answer, so they are
   * durable by then.
   */
  async #takeKeys({ device }: SyncBatch): Promise<void> {
    const { encryption, log } = this.#options;
    if (encryption === undefined) return;
    const { signal } = this.#leaving;
    await encryption.receive(device);
    const talk = encryption.talk(signal).catch((error: unknown) => {
      // With the next answer it is tried again.
      if (!signal.aborted) log.warn("keys could not be exchanged on Matrix", { error: messageOf(error) });
    });
    this.#background.own(talk);
    if (this.#locked.size > 0) this.#background.own(this.#intake.unlock());
  }

  #take(batch: SyncBatch, begin: Begin): void {
    const done = this.#position.begin({ token: batch.next, at: Date.now() });
    const matters = batch.joined.length + batch.invited.length + batch.left.length > 0;
    const work = async (): Promise<void> => {
      if (!(await this.#handle(batch, begin))) return;
      done();
      const { value } = this.#position;
      if (value !== undefined) await this.#options.progress.move(value, matters);
    };
    this.#background.own(work());
    this.#background.own(this.#invites.accept());
  }

  async #handle({ joined, invited, left }: SyncBatch, begin: Begin): Promise<boolean> {
    const { rooms } = this.#options.bot;
    for (const { roomId, by } of invited) await this.#invites.take(roomId, by);
    if (invited.length > 0) this.#background.own(this.#invites.accept());
    for (const roomId of left) {
      await this.#invites.forget(roomId);
      await rooms.leave(roomId);
    }
    const all = await Promise.all(joined.map((room) => this.#intake.take(room, begin)));
    return all.every((isDone) => isDone);
  }

  /** What waits is in memory: a gateway that takes nothing slows the homeserver down. */
  async #waitForRoom(onConnected: () => void): Promise<void> {
    const { signal } = this.#leaving;
    while (this.#intake.open > mostOpen && !signal.aborted) {
      await sleep(lookMs, signal).catch(() => undefined);
      onConnected();
    }
  }

  /** What could not be handled comes again with the next run. */
  #fail(error: unknown): void {
    if (this.#leaving.signal.aborted) return;
    this.#failure = forRun(mustComeAgain(error));
    this.#leaving.abort();
  }

  /** Resolves when nothing is under way any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#leaving.abort();
    this.#leaving[Symbol.dispose]();
    await this.#intake.settled();
    await this.#inbox.settled();
    await Promise.all([this.#background.settled(), this.#locked.settled(), this.#marks.settled()]);
    await this.#options.progress.write().catch(() => undefined);
  }
}
