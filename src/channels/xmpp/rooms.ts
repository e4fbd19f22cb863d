import { z } from "zod";
import { ChannelError } from "../../errors.js";
import type { Logger } from "../../log.js";
import { createGate } from "../../util/async/gate.js";
import { within } from "../../util/async/within.js";
import { newId } from "../../util/ids.js";
import type { ChannelRecords } from "../channel.js";
import { bareOf, domainOf, jidIn, resourceOf } from "./jid.js";
import { ns } from "./namespaces.js";
import { featuresOf } from "./stream/disco.js";
import type { Session } from "./stream/session.js";
import { type Xml, xml } from "./stream/xml.js";
import { StanzaError, stanzaErrorIn, toChannelError } from "./xmpp-error.js";

/** Somebody in a room, from when they come until they go. */
export interface Occupant {
  /** Their address, where the room shows it and is believed. */
  readonly jid: string | undefined;
  /** Made up here: the next who takes the nick is somebody else. */
  readonly token: string;
}

/** A room that the bot is in. */
export interface Room {
  readonly jid: string;
  readonly nick: string;
  readonly hasArchive: boolean;
  /** Everybody sees the addresses of everybody. */
  readonly showsAddresses: boolean;
  /** Its word on who is the same person (XEP-0421), which nobody else can write. */
  readonly hasOccupantIds: boolean;
  /** Its word counts that this address is behind a nick. */
  readonly speaksFor: (address: string) => boolean;
  readonly occupants: Map<string, Occupant>;
}

export interface RoomsOptions {
  /** From the config: those that it enters. */
  readonly rooms: readonly string[];
  /** Also named there: rooms where it answers. */
  readonly allowGroups: readonly string[];
  readonly nick: string;
  readonly records: ChannelRecords;
  readonly joinMs?: number | undefined;
  readonly log: Logger;
}

const defaultJoinMs = 20_000;
const mostNicks = 3;
/** Into so many people can bring the bot. */
const mostInvited = 100;
const invited = z.object({ password: z.string().optional() });
const prefix = "room ";

interface Joining {
  readonly occupants: Map<string, Occupant>;
  readonly nick: string;
  readonly settle: (presence: Xml) => void;
  /** The room has let the bot in; what it says from then on is about the bot in it. */
  isIn: boolean;
}

/** The rooms of the account in one session: who is in them, and that the bot is. */
export class Rooms {
  readonly #options: RoomsOptions;
  readonly #session: Session;
  readonly #joined = new Map<string, Room>();
  readonly #joining = new Map<string, Joining>();
  readonly #entering = new Map<string, Promise<Room>>();
  /** Rooms that do not want the bot, and what they said. */
  readonly #closed = new Map<string, ChannelError>();

  constructor(session: Session, options: RoomsOptions) {
    this.#session = session;
    this.#options = options;
  }

  /** Those of the config, and those that the bot was invited to. */
  get wanted(): readonly string[] {
    const named = this.#options.rooms.flatMap((room) => jidIn(room) ?? []);
    return [...new Set([...named, ...this.#invited])];
  }

  get #invited(): readonly string[] {
    const { records } = this.#options;
    return records.list().flatMap(({ id }) => (id.startsWith(prefix) ? [id.slice(prefix.length)] : []));
  }

  get joined(): readonly Room[] {
    return [...this.#joined.values()];
  }

  isRoom(jid: string): boolean {
    return this.#joined.has(jid) || this.#closed.has(jid) || this.#joining.has(jid) || this.wanted.includes(jid);
  }

  room(jid: string): Room | undefined {
    return this.#joined.get(jid);
  }

  /** Why the bot may not be there any more. */
  whyClosed(jid: string): ChannelError | undefined {
    return this.#closed.get(jid);
  }

  /** Who has this nick now, in a room that the bot is in or is about to enter. */
  occupant(jid: string, nick: string): Occupant | undefined {
    return (this.#joining.get(jid)?.occupants ?? this.#joined.get(jid)?.occupants)?.get(nick);
  }

  /**
   * The bot was invited by somebody who may do that: also after a restart it is there. What is not a room is not entered:
   * an address of a person would count as one, and its person would not be heard any more.
   *
   * @throws {ChannelError} it is not a room, or there are too many
   */
  async accept(jid: string, password: string | undefined, signal: AbortSignal): Promise<void> {
    if (this.#joined.has(jid)) return;
    if (!(await featuresOf(this.#session, jid, signal)).has(ns.room)) throw new ChannelError(`${jid} is not a room.`);
    if (!this.#invited.includes(jid) && this.#invited.length >= mostInvited)
      throw new ChannelError(`The bot was invited into ${mostInvited} rooms already, and goes into no more.`);
    this.#closed.delete(jid);
    await this.#options.records.put(prefix + jid, password === undefined ? {} : { password });
  }

  /** Anybody can have a server, and a room there can show any address. */
  #speaksFor(room: string, address: string): boolean {
    const { rooms, allowGroups } = this.#options;
    const isOf = (domain: string): boolean => `.${domainOf(room)}`.endsWith(`.${domain}`);
    const isNamed = [...rooms, ...allowGroups].some((one) => jidIn(one) === room);
    return isNamed || isOf(domainOf(this.#session.account)) || isOf(domainOf(address));
  }

  /** Resolves once the bot is in it. @throws {ChannelError} */
  async join(jid: string, signal: AbortSignal): Promise<Room> {
    const known = this.#joined.get(jid);
    if (known !== undefined) return known;
    const entering = this.#entering.get(jid) ?? this.#begin(jid).finally(() => this.#entering.delete(jid));
    this.#entering.set(jid, entering);
    return await within(entering, { signal });
  }

  async #begin(jid: string): Promise<Room> {
    const { signal } = new AbortController();
    this.#closed.delete(jid);
    const features = await featuresOf(this.#session, jid, signal);
    const { nick, occupants } = await this.#enter(jid, signal);
    const room: Room = {
      jid,
      nick,
      occupants,
      hasArchive: features.has(ns.archive),
      showsAddresses: features.has("muc_nonanonymous"),
      hasOccupantIds: features.has(ns.occupant),
      speaksFor: (address) => this.#speaksFor(jid, address),
    };
    const closed = this.#closed.get(jid);
    if (closed !== undefined) throw closed;
    this.#joined.set(jid, room);
    return room;
  }

  /** It does not know the bot any more: with the next message it is entered again. */
  leave(jid: string): void {
    this.#joined.delete(jid);
  }

  /** Whether the room still has the bot in it (XEP-0410). */
  async isThere({ jid, nick }: Room, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#session.ask("get", `${jid}/${nick}`, xml("ping", ns.ping), signal);
      return true;
    } catch (error) {
      // What the bot's own connection cannot answer has come through the room.
      const isIn =
        error instanceof StanzaError && /^(service-unavailable|feature-not-implemented)$/.test(error.condition);
      const isUnclear = !(error instanceof StanzaError) || /^remote-server-/.test(error.condition);
      if (!isIn && !isUnclear) this.leave(jid);
      return isIn || isUnclear;
    }
  }

  take(presence: Xml): void {
    const from = presence.attribute("from") ?? "";
    const jid = bareOf(from);
    const nick = resourceOf(from) ?? "";
    const joining = this.#joining.get(jid);
    const type = presence.attribute("type");
    if (type === "error") {
      joining?.settle(presence);
      return;
    }
    const occupants = joining?.occupants ?? this.#joined.get(jid)?.occupants;
    if (occupants === undefined) return;
    // Who is in a room may have written one, and the room's own is behind it.
    const abouts = presence.all("x", ns.roomUser);
    const about = abouts.at(-1);
    const statuses = about?.all("status", ns.roomUser).map((status) => status.attribute("code")) ?? [];
    const isMe = statuses.includes("110") || nick === (joining?.nick ?? this.#joined.get(jid)?.nick);
    if (type === "unavailable") {
      occupants.delete(nick);
      if (isMe && joining?.isIn !== false) this.#noteOut(jid, statuses, about);
      return;
    }
    const real = abouts.length === 1 ? about?.child("item", ns.roomUser)?.attribute("jid") : undefined;
    const before = occupants.get(nick);
    const known = real !== undefined && this.#speaksFor(jid, real) ? bareOf(real) : undefined;
    occupants.set(nick, { jid: known, token: before?.jid === known ? (before?.token ?? newId("occ")) : newId("occ") });
    if (!isMe || joining === undefined) return;
    joining.isIn = true;
    joining.settle(presence);
  }

  #noteOut(jid: string, statuses: readonly (string | undefined)[], about: Xml | undefined): void {
    this.#joined.delete(jid);
    const { log } = this.#options;
    const isDestroyed = about?.child("destroy", ns.roomUser) !== undefined;
    const why = isDestroyed
      ? "was destroyed"
      : statuses.includes("301")
        ? "has banned the bot"
        : statuses.includes("307")
          ? "has thrown the bot out"
          : statuses.some((code) => code === "321" || code === "322")
            ? "takes only its members now"
            : undefined;
    if (why === undefined) return;
    log.warn("an XMPP room does not have the bot any more", { room: jid, why });
    this.#closed.set(jid, new ChannelError(`The room ${jid} ${why}.`, { isChatClosed: true }));
  }

  async #enter(jid: string, signal: AbortSignal): Promise<Pick<Room, "nick" | "occupants">> {
    for (let attempt = 0; ; attempt += 1) {
      const nick = this.#options.nick + "_".repeat(attempt);
      const occupants = new Map<string, Occupant>();
      const answer = await this.#ask(jid, nick, occupants, signal);
      if (answer.attribute("type") !== "error") {
        // A server may give another nick.
        return { nick: resourceOf(answer.attribute("from") ?? "") ?? nick, occupants };
      }
      const error = stanzaErrorIn(answer);
      if (error.condition === "conflict" && attempt < mostNicks) continue;
      const failure = toChannelError(error, `Entering the room ${jid}`, true);
      if (failure.isChatClosed) this.#closed.set(jid, failure);
      throw failure;
    }
  }

  async #ask(jid: string, nick: string, occupants: Map<string, Occupant>, signal: AbortSignal): Promise<Xml> {
    const gate = createGate();
    const came: { presence?: Xml } = {};
    const settle = (presence: Xml): void => {
      came.presence = presence;
      gate.open();
    };
    this.#joining.set(jid, { occupants, nick, settle, isIn: false });
    try {
      const password = invited.safeParse(this.#options.records.get(prefix + jid)).data?.password;
      const wish = [
        xml("history", ns.room, { maxstanzas: "0" }),
        ...(password === undefined ? [] : [xml("password", ns.room, {}, password)]),
      ];
      this.#session.send(xml("presence", ns.client, { to: `${jid}/${nick}` }, xml("x", ns.room, {}, ...wish)));
      const late = () => new ChannelError(`The room ${jid} does not answer.`, { retryable: true });
      const lost = this.#session.closed.then((error) => Promise.reject(error));
      await within(Promise.race([gate.opened, lost]), { ms: this.#options.joinMs ?? defaultJoinMs, signal, late });
    } finally {
      this.#joining.delete(jid);
    }
    if (came.presence === undefined) throw new ChannelError(`The room ${jid} does not answer.`, { retryable: true });
    return came.presence;
  }
}
