import { LRUCache } from "lru-cache";
import { z } from "zod";
import { RequestError } from "../errors.js";
import { InOrder } from "../util/async/in-order.js";
import { isPersonCode, newPersonCode } from "../util/text/person-code.js";

/** Where pairings are kept: small durable facts by id. */
export interface PairingRecords {
  get(id: string): unknown;
  put(id: string, value: unknown): Promise<void>;
  delete(id: string): Promise<void>;
  /** One step, whatever other nodes do: `change` gets the stored value and only computes. Undefined: none. Resolves with what is stored. */
  update(id: string, change: (value: unknown) => unknown): Promise<unknown>;
  list(): readonly { readonly id: string; readonly value: unknown }[];
}

export interface PairingRequest {
  readonly code: string;
  readonly channel: string;
  readonly senderId: string;
  readonly senderName?: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly expiresAt: string;
}

export interface PairedSender {
  readonly channel: string;
  readonly senderId: string;
  readonly senderName?: string;
  /** ISO 8601. */
  readonly pairedAt: string;
}

/** How a stranger is let in: the stranger gets a code, an owner approves it. For direct messages only. */
export interface Pairing {
  /**
   * The sender's code, the same one while it is valid (10 minutes). `isNew` says whether to tell it: once. Three may wait per channel; a fourth takes the place of the oldest, who gets it back by writing again.
   */
  request(
    channel: string,
    senderId: string,
    senderName?: string,
  ): Promise<{ readonly code: string; readonly isNew: boolean }>;
  /**
   * Case, spaces and hyphens do not matter. Undefined for an unknown or expired code.
   *
   * @throws {RequestError} 429 after 10 wrong codes in 10 minutes, no matter who tried them, for the rest of that time
   */
  approve(code: string): Promise<PairedSender | undefined>;
  /** No new code for a day, and no word: the sender is not told. False for an unknown or expired code. */
  refuse(code: string): Promise<boolean>;
  /** False when the sender was not paired. */
  revoke(channel: string, senderId: string): Promise<boolean>;
  isPaired(channel: string, senderId: string): boolean;
  list(): { readonly waiting: readonly PairingRequest[]; readonly paired: readonly PairedSender[] };
}

const validMs = 10 * 60_000;
const refusedMs = 24 * 3_600_000;
const wrongTries = 10;
const waitingPerChannel = 3;
const rememberedDropped = 200;

const waitingRecord = z.object({
  code: z.string(),
  channel: z.string(),
  senderId: z.string(),
  senderName: z.string().optional(),
  createdAt: z.number(),
  /** When the sender last wrote; the place among those who wait. */
  askedAt: z.number(),
  /** An owner has refused them: until then they get no other code, and nobody sees that they wait. */
  refusedUntil: z.number().optional(),
});
type Waiting = z.infer<typeof waitingRecord>;

/** Kept, so that a restart gives no new tries. */
const wrongId = "wrong";
const wrongRecord = z.array(z.number());

const pairedRecord = z.object({
  channel: z.string(),
  senderId: z.string(),
  senderName: z.string().optional(),
  pairedAt: z.string(),
});

export interface PairingOptions {
  readonly now: () => number;
  /** Somebody waits who has got a code just now. */
  readonly onRequest?: (sender: { readonly channel: string; readonly senderId: string }) => void;
}

export function createPairing(records: PairingRecords, options: PairingOptions): Pairing {
  return new StoredPairing(records, options);
}

class StoredPairing implements Pairing {
  readonly #records: PairingRecords;
  readonly #now: () => number;
  readonly #onRequest: PairingOptions["onRequest"];
  /** Codes that lost their place but were already told: asking again must not make a chat window fill up. */
  readonly #dropped = new LRUCache<string, Waiting>({ max: rememberedDropped });
  readonly #changes = new InOrder();

  constructor(records: PairingRecords, { now, onRequest }: PairingOptions) {
    this.#records = records;
    this.#now = now;
    this.#onRequest = onRequest;
  }

  request(channel: string, senderId: string, senderName?: string): ReturnType<Pairing["request"]> {
    return this.#changes.run(async () => {
      const id = waitingId({ channel, senderId });
      const current = waitingRecord.safeParse(this.#records.get(id)).data;
      if (current && this.#isValid(current)) return { code: current.code, isNew: false };
      const now = this.#now();
      const earlier = this.#dropped.get(id);
      const entry: Waiting =
        earlier && this.#isValid(earlier)
          ? { ...earlier, askedAt: now }
          : { code: newPersonCode(), channel, senderId, ...nameOf(senderName), createdAt: now, askedAt: now };
      await this.#makeRoom(channel);
      const stored = await this.#records.update(id, (value) => {
        const first = waitingRecord.safeParse(value).data;
        return first !== undefined && this.#isValid(first) ? value : entry;
      });
      this.#dropped.delete(id);
      // Another node may have been asked at the same time: then that one tells the code.
      const code = waitingRecord.safeParse(stored).data?.code ?? entry.code;
      if (code === entry.code) this.#onRequest?.({ channel, senderId });
      return { code, isNew: code === entry.code && code !== earlier?.code };
    });
  }

  approve(code: string): Promise<PairedSender | undefined> {
    return this.#changes.run(async () => {
      const at = this.#now();
      await this.#takeTry(at);
      const match = this.#waitingWith(code);
      if (match === undefined || !(await this.#end(match, undefined))) return undefined;
      const { channel, senderId, senderName } = match;
      const pairedAt = new Date(this.#now()).toISOString();
      const paired: PairedSender = { channel, senderId, ...nameOf(senderName), pairedAt };
      await this.#records.put(pairedId(channel, senderId), paired);
      await this.#giveTryBack(at);
      return paired;
    });
  }

  refuse(code: string): Promise<boolean> {
    return this.#changes.run(async () => {
      const match = this.#waitingWith(code);
      return match !== undefined && (await this.#end(match, { ...match, refusedUntil: this.#now() + refusedMs }));
    });
  }

  /** Ends the wait of somebody. Of two nodes that do it at once one succeeds. False: not this one. */
  async #end(match: Waiting, next: Waiting | undefined): Promise<boolean> {
    let isMine = false;
    await this.#records.update(waitingId(match), (value) => {
      const waiting = waitingRecord.safeParse(value).data;
      isMine = waiting !== undefined && waiting.code === match.code && this.#isOpen(waiting);
      return isMine ? next : value;
    });
    return isMine;
  }

  revoke(channel: string, senderId: string): Promise<boolean> {
    return this.#changes.run(async () => {
      const id = pairedId(channel, senderId);
      let wasPaired = false;
      await this.#records.update(id, (value) => {
        wasPaired = value !== undefined;
        return undefined;
      });
      return wasPaired;
    });
  }

  /** Policy is handed it as a function. */
  readonly isPaired = (channel: string, senderId: string): boolean =>
    pairedRecord.safeParse(this.#records.get(pairedId(channel, senderId))).success;

  list(): ReturnType<Pairing["list"]> {
    return {
      waiting: this.#waiting()
        .filter((entry) => this.#isOpen(entry))
        .map(toRequest),
      paired: this.#records
        .list()
        .filter(({ id }) => id.startsWith("paired:"))
        .flatMap(({ value }) => toPaired(pairedRecord.safeParse(value).data)),
    };
  }

  #isValid({ createdAt, refusedUntil = createdAt + validMs }: Waiting): boolean {
    return this.#now() < refusedUntil;
  }

  #isOpen(entry: Waiting): boolean {
    return entry.refusedUntil === undefined && this.#isValid(entry);
  }

  #waiting(): Waiting[] {
    return this.#records
      .list()
      .filter(({ id }) => id.startsWith("waiting:"))
      .flatMap(({ value }) => waitingRecord.safeParse(value).data ?? [])
      .sort((a, b) => a.askedAt - b.askedAt);
  }

  #waitingWith(code: string): Waiting | undefined {
    // Every entry is compared, so that the time taken says nothing about how close a guess was.
    const [match] = this.#waiting().filter((entry) => isPersonCode(code, entry.code) && this.#isOpen(entry));
    return match;
  }

  async #makeRoom(channel: string): Promise<void> {
    for (const entry of this.#waiting().filter((each) => !this.#isValid(each)))
      await this.#records.delete(waitingId(entry));
    const inChannel = this.#waiting().filter((entry) => entry.channel === channel && this.#isOpen(entry));
    for (const entry of inChannel.slice(0, Math.max(0, inChannel.length - waitingPerChannel + 1))) {
      await this.#records.delete(waitingId(entry));
      this.#rememberDropped(entry);
    }
  }

  #rememberDropped(entry: Waiting): void {
    for (const [id, each] of this.#dropped) if (!this.#isValid(each)) this.#dropped.delete(id);
    this.#dropped.set(waitingId(entry), entry);
  }

  /** When wrong codes were tried lately, Unix ms. */
  #wrongLately(value: unknown): readonly number[] {
    return (wrongRecord.safeParse(value).data ?? []).filter((at) => at > this.#now() - validMs);
  }

  /** Counts a try before it is compared, so that nodes together allow no more. @throws {RequestError} 429 */
  async #takeTry(at: number): Promise<void> {
    let oldest: number | undefined;
    await this.#records.update(wrongId, (value) => {
      const wrong = this.#wrongLately(value);
      oldest = wrong.length < wrongTries ? undefined : wrong[0];
      return oldest === undefined ? [...wrong, at] : value;
    });
    if (oldest === undefined) return;
    const retryAfterMs = oldest + validMs - this.#now();
    const minutes = Math.ceil(retryAfterMs / 60_000);
    throw new RequestError(`Too many wrong codes were tried. Try again in ${minutes} minutes.`, {
      status: 429,
      code: "RATE_LIMIT",
      retryAfterMs,
    });
  }

  async #giveTryBack(at: number): Promise<void> {
    await this.#records.update(wrongId, (value) => {
      const wrong = this.#wrongLately(value);
      const own = wrong.lastIndexOf(at);
      return own === -1 ? value : wrong.toSpliced(own, 1);
    });
  }
}

function toRequest(entry: Waiting): PairingRequest {
  return {
    code: entry.code,
    channel: entry.channel,
    senderId: entry.senderId,
    ...nameOf(entry.senderName),
    createdAt: new Date(entry.createdAt).toISOString(),
    expiresAt: new Date(entry.createdAt + validMs).toISOString(),
  };
}

function toPaired(record: z.infer<typeof pairedRecord> | undefined): PairedSender[] {
  if (record === undefined) return [];
  const { channel, senderId, senderName, pairedAt } = record;
  return [{ channel, senderId, ...nameOf(senderName), pairedAt }];
}

/** A stranger chose this name and an owner will read it: one short line without control characters. */
function nameOf(senderName: string | undefined): { senderName?: string } {
  const name = senderName?.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
  return name ? { senderName: Array.from(name).slice(0, 80).join("") } : {};
}

// Channel names hold no colon, so two senders never share an id.
function waitingId(sender: { readonly channel: string; readonly senderId: string }): string {
  return `waiting:${sender.channel}:${sender.senderId}`;
}

function pairedId(channel: string, senderId: string): string {
  return `paired:${channel}:${senderId}`;
}
