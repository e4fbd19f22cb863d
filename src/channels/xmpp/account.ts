import { z } from "zod";
import type { Logger } from "../../log.js";
import { within } from "../../util/async/within.js";
import { newId } from "../../util/ids.js";
import type { OwnChannelContext } from "../channel.js";
import { userOf } from "./jid.js";
import { ns } from "./namespaces.js";
import { Archives } from "./receiving/archive.js";
import { Rooms } from "./rooms.js";
import { featuresOf } from "./stream/disco.js";
import type { Login } from "./stream/login.js";
import { Session, type SessionSpans } from "./stream/session.js";
import type { Xml } from "./stream/xml.js";

export interface AccountOptions {
  readonly login: Omit<Login, "resource">;
  readonly rooms: readonly string[];
  readonly allowGroups?: readonly string[] | undefined;
  /** In rooms. Absent: the name of the account. */
  readonly nick?: string | undefined;
  readonly spans?: Partial<SessionSpans> | undefined;
  readonly log: Logger;
}

/** Who hears what the account gets, while somebody does. */
export interface Receiver {
  readonly onMessage: (message: Xml) => Promise<unknown> | undefined;
  readonly onPresence: (presence: Xml) => void;
  readonly onAlive: () => void;
}

/** One connection of the account, with what is known as long as it lasts. */
export class Link {
  readonly session: Session;
  readonly archives: Archives;
  readonly rooms: Rooms;
  receiver: Receiver | undefined;
  #hasArchive: Promise<boolean> | undefined;

  constructor(session: Session, rooms: Rooms) {
    this.session = session;
    this.rooms = rooms;
    this.archives = new Archives(session);
    session.attach({
      onMessage: (message) => (this.archives.take(message) ? undefined : this.receiver?.onMessage(message)),
      onPresence: (presence) =>
        this.receiver === undefined ? rooms.take(presence) : this.receiver.onPresence(presence),
      onAlive: () => this.receiver?.onAlive(),
    });
  }

  /** Whether the server keeps what the account gets and sends. @throws {ChannelError} */
  async hasArchive(signal: AbortSignal): Promise<boolean> {
    const { session } = this;
    this.#hasArchive ??= featuresOf(session, session.account, signal).then((found) => found.has(ns.archive));
    this.#hasArchive.catch(() => {
      this.#hasArchive = undefined;
    });
    return await this.#hasArchive;
  }
}

const resource = z.string().regex(/^maxclaw\.\w+$/);

/** The account: connects when something is to be sent or heard, with one connection for both. */
export class Account {
  readonly #options: AccountOptions;
  readonly #context: OwnChannelContext;
  #link: Promise<Link> | undefined;

  constructor(options: AccountOptions, context: OwnChannelContext) {
    this.#options = options;
    this.#context = context;
  }

  /** The connection; a new one where there is none. @throws {ChannelError} */
  async link(signal: AbortSignal): Promise<Link> {
    const known = this.#link ?? this.#open();
    this.#link = known;
    return await within(known, { signal });
  }

  async #open(): Promise<Link> {
    const { login, spans = {}, rooms, allowGroups = [], nick = userOf(login.jid), log } = this.#options;
    const { records } = this.#context;
    try {
      const { signal } = new AbortController();
      const session = await Session.open({ ...login, resource: await this.#resource() }, spans, signal);
      session.holdProcess(false);
      void session.closed.then(() => {
        this.#link = undefined;
      });
      return new Link(session, new Rooms(session, { rooms, allowGroups, nick, records, log }));
    } catch (error) {
      this.#link = undefined;
      throw error;
    }
  }

  /** Always the same: with the next login the server ends a connection of before that it takes for alive. */
  async #resource(): Promise<string> {
    const { records } = this.#context;
    const known = resource.safeParse(records.get("resource")).data;
    if (known !== undefined) return known;
    const made = newId("maxclaw").replace("_", ".");
    await records.put("resource", made);
    return made;
  }
}
