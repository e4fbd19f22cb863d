import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { Logger } from "../../../log.js";
import { createGate, type Gate } from "../../../util/async/gate.js";
import type { ChannelRecords } from "../../channel.js";
import { Position } from "../../intake/position.js";
import type { Occupant } from "../rooms.js";
import type { Xml } from "../stream/xml.js";
import { StanzaError } from "../xmpp-error.js";
import type { Archives } from "./archive.js";

/** A message with what its archive calls it. */
export interface Entry {
  /** Undefined: it is in no archive. */
  readonly id: string | undefined;
  readonly message: Xml;
  readonly isLive: boolean;
  /** Of a live one in a room: who had the nick when it came. */
  readonly occupant?: Occupant | undefined;
}

export interface FeedOptions {
  /** Of the account, or of a room. */
  readonly jid: string;
  /** Absent: it keeps nothing that could be asked for. */
  readonly archives?: Archives | undefined;
  readonly records: ChannelRecords;
  /** In the order of the archive. Resolves with whether it is settled, so that it need not come again. */
  readonly take: (entry: Entry) => Promise<boolean>;
  readonly pageSize?: number | undefined;
  readonly log: Logger;
}

const record = z.object({
  /** Everything up to this message of the archive is settled; empty: none is yet. */
  after: z.string(),
  /** Unix ms of about then, for an archive that has forgotten that message. */
  at: z.number(),
});

interface Place {
  readonly id: string;
  readonly at: number;
}

/** What waits until the archive has been read, and who waits for its end. */
interface Held {
  readonly entry: Entry;
  readonly settle: (isSettled: Promise<boolean>) => void;
}

const mostSeen = 4000;
const mostHeld = 1000;
const mostUnsettled = 1000;
/** The clocks of two servers differ, and messages of one time are not in order. */
const slackMs = 60_000;

/**
 * The messages of one archive, each once and in its order: what was missed is read from the archive, from a durable position
 * on, and what comes meanwhile waits behind it.
 */
export class Feed {
  readonly #options: FeedOptions;
  readonly #position = new Position<Place>();
  readonly #seen = new LRUCache<string, true>({ max: mostSeen });
  #held: Held[] | undefined = [];
  #hasMore = false;
  #unsettled = 0;
  #room: Gate | undefined;
  #written: Place | undefined;
  #writing: Promise<void> | undefined;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /**
   * A message that has just come. Resolves once it is settled, or is in an archive from which it can be read again. False: it
   * was not taken, and is nowhere else.
   */
  live(entry: Entry): Promise<boolean> {
    const taken = this.#held === undefined ? this.#take(entry, Date.now()) : this.#hold(entry, this.#held);
    const isArchived = entry.id !== undefined && this.#options.archives !== undefined;
    return isArchived ? Promise.resolve(true) : taken;
  }

  #hold(entry: Entry, held: Held[]): Promise<boolean> {
    if (held.length >= mostHeld) {
      this.#hasMore = true;
      return Promise.resolve(true);
    }
    return new Promise((settle) => held.push({ entry, settle }));
  }

  /**
   * At the first start of all: what is older is nobody's question any more. The archive is not asked for its end, because
   * servers that are asked before they have delivered what they hold for the account do not deliver it.
   */
  async begin(): Promise<void> {
    const { archives, records } = this.#options;
    const isBegun = record.safeParse(records.get(this.#key)).success;
    if (archives !== undefined && !isBegun) await records.put(this.#key, { after: "", at: Date.now() });
  }

  /** Reads what was missed, and then lets through what has come meanwhile. @throws {ChannelError} */
  async catchUp(signal: AbortSignal): Promise<void> {
    const { archives } = this.#options;
    this.#held ??= [];
    await this.begin();
    if (archives !== undefined) {
      const known = record.safeParse(this.#options.records.get(this.#key)).data;
      if (known !== undefined) await this.#readFrom(known, archives, signal);
    }
    const held = this.#held;
    this.#held = undefined;
    for (const { entry, settle } of held) settle(this.#take(entry, Date.now()));
    if (!this.#hasMore) return;
    this.#hasMore = false;
    await this.catchUp(signal);
  }

  /** Resolves once the position is durable. */
  async written(): Promise<void> {
    await this.#writing;
  }

  get #key(): string {
    return `feed ${this.#options.jid}`;
  }

  async #readFrom(known: z.infer<typeof record>, archives: Archives, signal: AbortSignal): Promise<void> {
    const { jid, pageSize = 100, log } = this.#options;
    let { after } = known;
    let start = after === "" ? known.at : undefined;
    // An archive that goes round in circles is left.
    for (const ends = new Set<string>(); !ends.has(after); ) {
      if (after !== "") ends.add(after);
      const page = await archives.read(jid, { after, start, max: pageSize }, signal).catch((error: unknown) => {
        // It keeps messages for some time only, and that one is gone.
        if (!(error instanceof StanzaError) || error.condition !== "item-not-found" || start !== undefined) throw error;
        return undefined;
      });
      if (page === undefined) {
        log.warn("an XMPP archive does not know the last message any more: it is read from its time on", {
          archive: jid,
        });
        start = known.at - slackMs;
        after = "";
        continue;
      }
      for (const { id, message, at } of page.found) {
        after = id;
        void this.#take({ id, message, isLive: false }, at ?? Date.now());
      }
      if (page.isLast) return;
      if (this.#unsettled > mostUnsettled) await this.#roomMade(signal);
    }
  }

  async #take(entry: Entry, at: number): Promise<boolean> {
    const { id } = entry;
    if (id !== undefined) {
      if (this.#seen.has(id)) return true;
      this.#seen.set(id, true);
    }
    const settle = id === undefined ? undefined : this.#position.begin({ id, at });
    this.#unsettled += 1;
    const isSettled = await this.#options.take(entry).catch((error: unknown) => {
      this.#options.log.error("a message of XMPP could not be taken", { id, error });
      return true;
    });
    this.#unsettled -= 1;
    if (this.#unsettled <= mostUnsettled) this.#room?.open();
    if (!isSettled || settle === undefined) return isSettled;
    settle();
    this.#writing ??= this.#write();
    await this.#writing;
    return true;
  }

  async #roomMade(signal: AbortSignal): Promise<void> {
    const gate = createGate();
    this.#room = gate;
    const onAbort = gate.open;
    signal.addEventListener("abort", onAbort, { once: true });
    await gate.opened;
    signal.removeEventListener("abort", onAbort);
    signal.throwIfAborted();
  }

  /** One write at a time, each with all that is settled by then. */
  async #write(): Promise<void> {
    const { records, archives, log } = this.#options;
    // What is settled in this moment goes along.
    await Promise.resolve();
    try {
      for (
        let place = this.#position.value;
        place !== undefined && place !== this.#written;
        place = this.#position.value
      ) {
        if (archives !== undefined) await records.put(this.#key, { after: place.id, at: place.at });
        this.#written = place;
      }
    } catch (error) {
      log.warn("the position in an XMPP archive was not stored", { archive: this.#options.jid, error });
    } finally {
      this.#writing = undefined;
    }
  }
}
