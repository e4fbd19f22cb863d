import { messageOf } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import { Background } from "../../../util/async/background.js";
import { type LinkedAbort, linked } from "../../../util/async/linked.js";
import { sleep } from "../../../util/async/sleep.js";
import type { OwnChannelContext, Publish, ReceivedMessage } from "../../channel.js";
import { Inbox } from "../../intake/inbox.js";
import type { Link } from "../account.js";
import { bareOf, resourceOf } from "../jid.js";
import { type Reading, toReceived } from "../message.js";
import { ns } from "../namespaces.js";
import type { Room } from "../rooms.js";
import { type Xml, xml } from "../stream/xml.js";
import { StanzaError } from "../xmpp-error.js";
import { type Entry, Feed } from "./feed.js";
import { invitationIn, isNamed } from "./policy.js";

export interface ReceivingOptions {
  readonly link: Link;
  readonly publish: Publish;
  readonly context: OwnChannelContext;
  /** Who may have the bot come into rooms and see whether it is there. */
  readonly allowFrom: readonly string[];
  readonly reading: Pick<Reading, "isOurs" | "isUpload" | "read">;
  /** Says something outside of the queue. */
  readonly tell: (message: ReceivedMessage, text: string) => Promise<void>;
  readonly busyRetryMs?: number | undefined;
  /** Between two looks whether the bot is in its rooms. Default 60,000. */
  readonly roomMs?: number | undefined;
  readonly pageSize?: number | undefined;
  readonly log: Logger;
}

const mostEarly = 200;

/** What the account gets while one connection lasts. */
export class Receiving implements AsyncDisposable {
  readonly #options: ReceivingOptions;
  readonly #leaving: LinkedAbort;
  readonly #inbox: Inbox;
  readonly #background: Background;
  readonly #feeds = new Map<string, Feed>();
  /** What a room has sent before its feed is there. */
  readonly #early = new Map<string, Omit<Entry, "id">[]>();
  readonly #warned = new Set<string>();
  #hasArchive = false;

  constructor(options: ReceivingOptions, signal: AbortSignal) {
    const { publish, context, tell, busyRetryMs, log } = options;
    this.#options = options;
    this.#leaving = linked(signal);
    const { actsAtOnce } = context;
    this.#inbox = new Inbox({ title: "XMPP", publish, actsAtOnce, tell, busyRetryMs, log }, this.#leaving.signal);
    this.#background = new Background((error) => log.debug("work of XMPP failed", { error: messageOf(error) }));
  }

  /** Until the connection ends or the signal aborts. @throws {ChannelError} */
  async run(onConnected: () => void): Promise<void> {
    const { link } = this.#options;
    const { session } = link;
    const { signal } = this.#leaving;
    session.holdProcess(true);
    const ended = session.closed.then((error) => {
      throw error;
    });
    ended.catch(() => undefined);
    this.#hasArchive = await link.hasArchive(signal);
    if (!this.#hasArchive)
      this.#warnOnce("the XMPP server keeps no archive (XEP-0313): what it does not deliver itself is missed");
    const feed = this.#newFeed(session.account, this.#hasArchive);
    await feed.begin();
    link.receiver = {
      onMessage: (message) => this.#takeMessage(message),
      onPresence: (presence) => this.#takePresence(presence),
      onAlive: onConnected,
    };
    await session.ask("set", undefined, xml("enable", ns.carbons), signal).catch((error: unknown) => {
      if (!(error instanceof StanzaError)) throw error;
    });
    session.send(xml("presence", ns.client));
    await Promise.race([feed.catchUp(signal), ended]);
    onConnected();
    this.#background.own(this.#keepRooms());
    const left = new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
      if (signal.aborted) resolve();
    });
    await Promise.race([ended, left]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { link } = this.#options;
    link.receiver = undefined;
    this.#leaving.abort();
    this.#leaving[Symbol.dispose]();
    await this.#inbox.settled();
    await Promise.all([...this.#feeds.values()].map((feed) => feed.written()));
    link.session.close();
    await this.#background.settled();
  }

  #newFeed(jid: string, hasArchive: boolean, room?: Room): Feed {
    const { link, context, pageSize, log } = this.#options;
    const archives = hasArchive ? link.archives : undefined;
    const take = (entry: Entry): Promise<boolean> => this.#take(entry, room);
    const feed = new Feed({ jid, archives, records: context.records, take, pageSize, log });
    this.#feeds.set(jid, feed);
    return feed;
  }

  /** Enters the rooms, comes back into those that have lost the bot, and hears what was said meanwhile. */
  async #keepRooms(): Promise<void> {
    const { link, roomMs = 60_000 } = this.#options;
    const { signal } = this.#leaving;
    while (!signal.aborted) {
      for (const jid of link.rooms.wanted) {
        if (signal.aborted || link.rooms.whyClosed(jid) !== undefined) continue;
        const known = link.rooms.room(jid);
        if (known !== undefined && this.#feeds.has(jid) && (await link.rooms.isThere(known, signal))) continue;
        await this.#enter(jid, signal);
      }
      await sleep(roomMs, signal).catch(() => undefined);
    }
  }

  async #enter(jid: string, signal: AbortSignal): Promise<void> {
    try {
      const room = await this.#options.link.rooms.join(jid, signal);
      const feed = this.#newFeed(jid, room.hasArchive, room);
      for (const early of this.#early.get(jid) ?? [])
        void feed.live({ ...early, id: idBy(early.message, jid, room.hasArchive) });
      this.#early.delete(jid);
      await feed.catchUp(signal);
    } catch (error) {
      if (signal.aborted) return;
      this.#warnOnce(`the XMPP room ${jid} cannot be entered: ${messageOf(error)}`);
    }
  }

  #takePresence(presence: Xml): void {
    const { link, allowFrom, log } = this.#options;
    const from = presence.attribute("from") ?? "";
    if (presence.attribute("type") !== "subscribe") {
      link.rooms.take(presence);
      return;
    }
    const isWelcome = isNamed(allowFrom, from) || allowFrom.includes("*");
    log.debug("somebody on XMPP wants to see whether the bot is there", { from: bareOf(from), isWelcome });
    if (isWelcome) this.#say(xml("presence", ns.client, { to: bareOf(from), type: "subscribed" }));
  }

  #takeMessage(message: Xml): Promise<unknown> | undefined {
    const { link } = this.#options;
    const { account } = link.session;
    const from = message.attribute("from") ?? account;
    if (message.attribute("type") === "error") return void this.#onRefused(message, from);
    const carbon = carbonIn(message);
    if (carbon !== undefined) {
      // Anybody could send one (CVE-2017-5589): those of the own server alone count. What the account itself sent is known.
      if (bareOf(from) !== account || carbon.isSent || carbon.message === undefined) return undefined;
      return this.#feeds.get(account)?.live(this.#entryOf(carbon.message, account, this.#hasArchive));
    }
    if (message.attribute("type") !== "groupchat")
      return this.#feeds.get(account)?.live(this.#entryOf(message, account, this.#hasArchive));
    const jid = bareOf(from);
    const room = link.rooms.room(jid);
    const feed = this.#feeds.get(jid);
    if (room !== undefined && feed !== undefined) return feed.live(this.#entryOf(message, jid, room.hasArchive));
    if (!link.rooms.isRoom(jid)) return undefined;
    const early = this.#early.get(jid) ?? [];
    this.#early.set(jid, early);
    if (early.length < mostEarly) early.push(this.#entryOf(message, jid, false));
    return undefined;
  }

  /** By the time that it is taken the nick may be another's. */
  #entryOf(message: Xml, by: string, hasArchive: boolean): Entry {
    const nick = resourceOf(message.attribute("from") ?? "") ?? "";
    const occupant = this.#options.link.rooms.occupant(by, nick);
    return { id: idBy(message, by, hasArchive), message, isLive: true, occupant };
  }

  async #take(entry: Entry, room: Room | undefined): Promise<boolean> {
    const { link, reading } = this.#options;
    const { account } = link.session;
    const { message } = entry;
    const from = message.attribute("from") ?? account;
    const type = message.attribute("type") ?? "normal";
    if (type === "error" || type === "headline") return true;
    if (room === undefined) {
      if (bareOf(from) === account || type === "groupchat") return true;
      if (await this.#takeInvitation(message)) return true;
      // What is whispered in a room comes from nobody that is known.
      if (link.rooms.isRoom(bareOf(from))) return true;
    } else if (bareOf(from) !== room.jid || resourceOf(from) === room.nick || resourceOf(from) === undefined)
      return true;
    const received = toReceived(entry, { ...reading, account, room });
    if (received === undefined) return true;
    const taken = await this.#inbox.take(received);
    if (taken === "accepted" && room === undefined) this.#confirm(message, from);
    return taken !== undefined;
  }

  async #takeInvitation(message: Xml): Promise<boolean> {
    const invitation = invitationIn(message);
    if (invitation === undefined) return false;
    const { link, allowFrom, log } = this.#options;
    const { room, by, password } = invitation;
    const isWelcome = isNamed(allowFrom, by);
    log.info("an invitation into an XMPP room", { room, by, isWelcome });
    if (!isWelcome) return true;
    const { signal } = this.#leaving;
    try {
      await link.rooms.accept(room, password, signal);
      this.#background.own(this.#enter(room, signal));
    } catch (error) {
      log.warn("an invitation into an XMPP room is not followed", { room, by, error: messageOf(error) });
    }
    return !signal.aborted;
  }

  /** Says that it has come, where that was asked. */
  #confirm(message: Xml, to: string): void {
    const id = message.attribute("id");
    if (id === undefined) return;
    const about = { to, type: "chat" };
    const hint = xml("store", ns.hints);
    if (message.child("request", ns.receipts) !== undefined)
      this.#say(xml("message", ns.client, about, xml("received", ns.receipts, { id }), hint));
    if (message.child("markable", ns.markers) !== undefined)
      this.#say(xml("message", ns.client, about, xml("displayed", ns.markers, { id }), hint));
  }

  #onRefused(message: Xml, from: string): void {
    const error = message.elements().find(({ name }) => name === "error");
    const condition = error?.elements()[0]?.name;
    this.#options.log.warn("a message of ours did not arrive on XMPP", {
      chat: bareOf(from),
      id: message.attribute("id"),
      condition,
    });
  }

  /** What nobody waits for. */
  #say(stanza: Xml): void {
    try {
      this.#options.link.session.send(stanza);
    } catch (error) {
      this.#options.log.debug("a sign on XMPP was not sent", { error: messageOf(error) });
    }
  }

  #warnOnce(text: string): void {
    if (this.#warned.has(text)) return;
    this.#warned.add(text);
    this.#options.log.warn(text);
  }
}

/** Only the archive itself may say what it calls a message. */
function idBy(message: Xml, by: string, hasArchive: boolean): string | undefined {
  const named = message.all("stanza-id", ns.ids).filter((one) => bareOf(one.attribute("by") ?? "") === by);
  return hasArchive ? named.at(-1)?.attribute("id") : undefined;
}

function carbonIn(message: Xml): { readonly isSent: boolean; readonly message: Xml | undefined } | undefined {
  const carbon = message.elements().find((child) => child.ns === ns.carbons && /^(?:sent|received)$/.test(child.name));
  if (carbon === undefined) return undefined;
  const inner = carbon.child("forwarded", ns.forward)?.child("message", ns.client);
  return { isSent: carbon.name === "sent", message: inner };
}
