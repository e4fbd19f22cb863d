import { LRUCache } from "lru-cache";
import { ChannelError, messageOf } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import { InOrder } from "../../../util/async/in-order.js";
import type { OwnChannelContext, ReceivedMessage } from "../../channel.js";
import type { Inbox, Taken } from "../../intake/inbox.js";
import { untilAnswered } from "../../wire/until-answered.js";
import type { Account, Bot } from "../account.js";
import type { Encryption } from "../crypto/encryption.js";
import { isAutomatic, type MatrixEvent, redactedBy, replacedBy, threadOf } from "../event.js";
import { isAccountTrouble } from "../matrix-error.js";
import type { RoomBatch } from "./batch.js";
import { type Missed, readBack } from "./history.js";
import type { Invites } from "./invites.js";
import type { Locked } from "./locked.js";
import type { Marks } from "./marks.js";
import type { IntakeMemory } from "./memory.js";
import type { Reader } from "./reader.js";

export interface IntakeOptions {
  readonly account: Account;
  readonly bot: Bot;
  readonly reader: Reader;
  readonly inbox: Inbox;
  readonly memory: IntakeMemory;
  readonly invites: Invites;
  /** Receipts, and what is said about encryption. */
  readonly marks: Marks;
  readonly encryption: Encryption | undefined;
  readonly locked: Locked;
  readonly press: OwnChannelContext["press"];
  readonly log: Logger;
}

/** From where on a room is read. */
export interface Begin {
  /** Everything before this token of a sync is known; undefined: nothing is. */
  readonly since: string | undefined;
  /** Without `since`: what is older, in Unix ms, is not answered any more. */
  readonly after: number;
  /** Without `since`: also not what is before a message of the bot's own, which has read it. */
  readonly isFirst: boolean;
}

/** What is under way for one event; resolves with whether it is settled. */
type Settling = Promise<boolean>;
const mostRefused = 1000;
const nothing: Missed = { events: [], hasEnd: false, isWhole: true };
const settled: { readonly done: Settling } = { done: Promise.resolve(true) };

/** Passes on what is said and what happens to it, in order for each room. */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #signal: AbortSignal;
  readonly #rooms = new InOrder<string>();
  /** Locked messages that were opened and are under way. */
  readonly #unlocking = new Set<string>();
  /** Questions and people whose sign below them was refused. */
  readonly #refused = new LRUCache<string, true>({ max: mostRefused });
  #open = 0;

  constructor(options: IntakeOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  /** Events that are not settled yet. */
  get open(): number {
    return this.#open;
  }

  /**
   * Resolves with true once all of it is settled, so that it needs not come again.
   *
   * @throws {ChannelError} {EngineError} it must come again
   */
  async take(batch: RoomBatch, begin: Begin): Promise<boolean> {
    const all = await this.#rooms.run(() => this.#read(batch, begin), batch.roomId);
    const done = await Promise.all(all.map(({ done }) => done));
    return done.every((isDone) => isDone);
  }

  /** Resolves when nothing is under way any more; for after the abort. */
  async settled(): Promise<void> {
    await this.#rooms.settled();
  }

  /** What is read is passed on in order; that it is taken is not waited for. */
  async #read(batch: RoomBatch, begin: Begin): Promise<readonly { readonly done: Settling }[]> {
    const { bot, memory } = this.#options;
    const { roomId } = batch;
    for (const event of batch.state) await this.#noteState(roomId, event);
    const all: { readonly done: Settling }[] = [];
    for (const event of await this.#eventsOf(batch, begin)) {
      if (this.#signal.aborted) return [...all, { done: Promise.resolve(false) }];
      if (event.state_key !== undefined) await this.#noteState(roomId, event);
      if (memory.isSettled(event.event_id)) continue;
      const { done } = await this.#handle(roomId, event);
      all.push({ done: this.#counted(event.event_id, done) });
    }
    await bot.rooms.note(roomId, { isKnown: true });
    return all;
  }

  async #counted(eventId: string, done: Settling): Settling {
    this.#open += 1;
    try {
      const isDone = await done;
      if (isDone) this.#options.memory.settle(eventId);
      return isDone;
    } finally {
      this.#open -= 1;
    }
  }

  /** All that is new to the bot in a room, oldest first. */
  async #eventsOf({ roomId, events, gapFrom }: RoomBatch, begin: Begin): Promise<readonly MatrixEvent[]> {
    const { bot } = this.#options;
    const { isKnown = false, isUpgrade = false } = bot.rooms.of(roomId);
    if (begin.since === undefined) return await this.#lately({ roomId, events, gapFrom }, begin);
    if (isKnown || isUpgrade) {
      const to = isKnown ? begin.since : undefined;
      return [...(await this.#missed(roomId, gapFrom, { to })).events, ...events];
    }
    // Who invites often writes at once, before the bot is there.
    const own = (event: MatrixEvent, membership: string): boolean =>
      event.type === "m.room.member" && event.state_key === bot.id && event.content.membership === membership;
    const isInvite = (event: MatrixEvent): boolean => own(event, "invite");
    const invited = events.findLastIndex(isInvite);
    if (invited !== -1) return events.slice(invited + 1);
    const before = await this.#missed(roomId, gapFrom, { isEnd: isInvite });
    if (before.hasEnd) return [...before.events, ...events];
    const all = [...before.events, ...events];
    return all.slice(all.findLastIndex((event) => own(event, "join")) + 1);
  }

  /** Where it is not known up to where the room was read: what is not old. */
  async #lately(
    { roomId, events, gapFrom }: Pick<RoomBatch, "roomId" | "events" | "gapFrom">,
    { after, isFirst }: Begin,
  ): Promise<readonly MatrixEvent[]> {
    const { bot } = this.#options;
    const isOld = (event: MatrixEvent): boolean => event.origin_server_ts < after;
    const isOwn = ({ sender, type }: MatrixEvent): boolean => sender === bot.id && type === "m.room.message";
    const isEnd = (event: MatrixEvent): boolean => isOld(event) || (isFirst && isOwn(event));
    const isEnough = events.some(isEnd);
    const before = isEnough ? nothing : await this.#missed(roomId, gapFrom, { isEnd });
    const all = [...before.events, ...events];
    const own = isFirst ? all.findLastIndex(isOwn) : -1;
    return all.slice(own + 1).filter((event) => !isOld(event));
  }

  async #missed(
    roomId: string,
    from: string | undefined,
    about: { readonly to?: string | undefined; readonly isEnd?: (event: MatrixEvent) => boolean },
  ): Promise<Missed> {
    const { account, bot, log } = this.#options;
    if (from === undefined) return nothing;
    const onState = (event: MatrixEvent): void => bot.rooms.noteMember(roomId, event);
    const ask = () => readBack(account.api, roomId, { from, onState, ...about }, this.#signal);
    try {
      const missed = await untilAnswered(ask, this.#signal, isAccountTrouble);
      if (!missed.isWhole)
        log.warn("more was missed in a room on Matrix than is read: its oldest part is left out", { roomId });
      return missed;
    } catch (error) {
      if (this.#signal.aborted || isAccountTrouble(error)) throw error;
      log.warn("what was missed in a room on Matrix cannot be read", { roomId, error: messageOf(error) });
      return nothing;
    }
  }

  async #noteState(roomId: string, event: MatrixEvent): Promise<void> {
    const { bot, invites, marks } = this.#options;
    if (event.type === "m.room.member") bot.rooms.noteMember(roomId, event);
    // One with another key says nothing about the room.
    if (event.state_key !== "") return;
    if (event.type === "m.room.encryption") await marks.onEncrypted(roomId);
    if (event.type === "m.room.tombstone") await invites.follow(roomId, event);
  }

  /** Messages whose key has come by now, in the order in which they came. */
  async unlock(): Promise<void> {
    const { locked } = this.#options;
    for (const { roomId, event } of locked.all)
      await this.#rooms.run(async () => {
        if (this.#unlocking.has(event.event_id)) return;
        const opened = await this.#options.encryption?.decrypt(roomId, event);
        if (opened === undefined || this.#signal.aborted) return;
        this.#unlocking.add(event.event_id);
        const { done } = await this.#handle(roomId, opened, true);
        // It was counted as read: only what takes it is waited for here.
        void this.#counted(event.event_id, done).then(
          (isDone) => (isDone ? locked.forget(event.event_id) : undefined),
          () => undefined,
        );
      }, roomId);
  }

  async #takeSealed(roomId: string, event: MatrixEvent): Promise<{ readonly done: Settling }> {
    const { bot, encryption, marks, locked } = this.#options;
    await marks.onEncrypted(roomId);
    const opened = await encryption?.decrypt(roomId, event);
    if (opened !== undefined && opened.type !== "m.room.encrypted") return await this.#handle(roomId, opened, true);
    if (encryption !== undefined && opened === undefined && event.sender !== bot.id) await locked.add(roomId, event);
    return settled;
  }

  /** `isOpened`: it was encrypted. */
  async #handle(roomId: string, event: MatrixEvent, isOpened = false): Promise<{ readonly done: Settling }> {
    const { bot, memory } = this.#options;
    if (event.type === "m.room.encrypted") return await this.#takeSealed(roomId, event);
    // Whether its author may do that only the homeserver knows, which does not see what is encrypted.
    if (event.type === "m.room.redaction") return isOpened ? settled : await this.#takeDeletion(roomId, event);
    const isMessage = event.type === "m.room.message" || event.type === "m.sticker";
    const original = isMessage ? replacedBy(event) : undefined;
    if (original !== undefined) memory.replace(roomId, original, event);
    else if (isMessage) memory.keep(roomId, event);
    if (event.sender === bot.id) return settled;
    if (event.type === "m.reaction") return this.#takeReaction(roomId, event);
    // In an encrypted room nothing counts that is in clear.
    const isBare = !isOpened && bot.rooms.of(roomId).isEncrypted === true;
    if (!isMessage || isAutomatic(event) || isBare) return settled;
    return original === undefined
      ? await this.#takeMessage(roomId, event)
      : await this.#takeEdit(roomId, original, event);
  }

  async #takeMessage(roomId: string, event: MatrixEvent): Promise<{ readonly done: Settling }> {
    const { bot, reader, memory, marks } = this.#options;
    const received = await reader.read(roomId, event);
    if (received === undefined) return settled;
    const root = threadOf(event);
    // What comes next in the thread is looked at before it is known whether this one is taken.
    const begins = root !== undefined && received.chatType === "group" && (await bot.threads.add(root));
    memory.take(received);
    const done = this.#pass(received, async (outcome) => {
      if (outcome === "accepted" || outcome === "duplicate") marks.read(roomId, event.event_id, root);
      else if (outcome === "refused" && begins) await bot.threads.forget(root);
    });
    return { done };
  }

  async #takeEdit(roomId: string, original: string, event: MatrixEvent): Promise<{ readonly done: Settling }> {
    const { reader, memory } = this.#options;
    const next = event.content["m.new_content"];
    const first = await reader.event(roomId, original);
    // Nobody can change what another has written.
    if (next === undefined || first === undefined || first.sender !== event.sender) return settled;
    const { content } = first;
    const changed = { ...first, content: { ...content, ...next, "m.relates_to": content["m.relates_to"] } };
    const known = memory.taken(roomId, original);
    const received =
      known === undefined
        ? await reader.readChange(roomId, changed)
        : reader.toChange(roomId, changed, known.chatType === "dm");
    if (received === undefined) return settled;
    memory.take(received);
    return { done: this.#pass(changeOf(received, "edited", event.event_id)) };
  }

  async #takeDeletion(roomId: string, event: MatrixEvent): Promise<{ readonly done: Settling }> {
    const { memory } = this.#options;
    const original = redactedBy(event) ?? "";
    const known = memory.taken(roomId, original);
    memory.forget(roomId, original);
    // Of what was taken before a restart nothing says any more where it was and what it was.
    const taken = known ?? (await this.#deletedIn(roomId, original));
    if (taken === undefined) return settled;
    return { done: this.#pass(changeOf({ ...taken, content: "" }, "deleted", event.event_id)) };
  }

  async #deletedIn(roomId: string, original: string): Promise<Omit<ReceivedMessage, "content"> | undefined> {
    const { reader, bot } = this.#options;
    if (!original.startsWith("$") || !(await reader.isDirect(roomId))) return undefined;
    const gone = await reader.event(roomId, original);
    if (gone === undefined || gone.sender === bot.id || gone.type !== "m.room.message") return undefined;
    const { sender } = gone;
    return {
      chatId: roomId,
      chatType: "dm",
      addressed: true,
      senderId: sender,
      senderName: bot.rooms.nameOf(roomId, sender),
      platformMessageId: original,
      dedupId: `matrix:${bot.id}:${original}`,
    };
  }

  #takeReaction(roomId: string, event: MatrixEvent): { readonly done: Settling } {
    const { questions } = this.#options.bot;
    const { event_id: about = "", key = "" } = event.content["m.relates_to"] ?? {};
    const value = questions.valueOf(about, key);
    return value === undefined ? settled : { done: this.#press(roomId, event, about, value) };
  }

  /** Nothing else of its room is waited for. */
  async #press(roomId: string, { sender }: MatrixEvent, about: string, value: string): Settling {
    const { bot, reader, press, inbox } = this.#options;
    const thread = bot.questions.of(about)?.thread;
    const chatType = (await reader.isDirect(roomId)) ? "dm" : "group";
    const senderName = bot.rooms.nameOf(roomId, sender);
    const place = { chatId: roomId, ...(thread === undefined ? {} : { thread }), chatType, senderId: sender } as const;
    const outcome = await press({ ...place, senderName, value });
    const who = `${about} ${sender} ${outcome.text}`;
    // What was pressed is there for all to see, and so is the word on it: each person hears the same one once.
    if (outcome.status === "taken" || this.#refused.has(who)) return true;
    this.#refused.set(who, true);
    inbox.tell({ ...place, senderName, content: "", addressed: true, platformMessageId: about }, outcome.text);
    return true;
  }

  async #pass(received: ReceivedMessage, onOutcome?: (outcome: Taken) => Promise<void>): Settling {
    const outcome = await this.#options.inbox.take(received);
    await onOutcome?.(outcome);
    return outcome !== undefined;
  }
}

function changeOf(received: ReceivedMessage, change: "edited" | "deleted", eventId: string): ReceivedMessage {
  const { dedupId = "" } = received;
  return { ...received, change, dedupId: `${dedupId}:${change}:${eventId}` };
}

/** As the error that ends a run, so that what was not settled comes again. */
export function mustComeAgain(error: unknown): unknown {
  if (error instanceof ChannelError) return error;
  return new ChannelError(`What came from Matrix could not be taken: ${messageOf(error)}`, {
    cause: error,
    retryable: true,
  });
}
