import { createHash, randomInt, timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { RequestError } from "../errors.js";
import { InOrder } from "../util/async/in-order.js";

/** Where pairings are kept: small durable facts by id. */
export interface PairingRecords {
  get(id: string): unknown;
  put(id: string, value: unknown): Promise<void>;
  delete(id: string): Promise<void>;
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
   * @throws {RequestError} 429 after 10 wrong codes in 10 minutes, whoever tried them, for the rest of that time
   */
  approve(code: string): Promise<PairedSender | undefined>;
  /** False when the sender was not paired. */
  revoke(channel: string, senderId: string): Promise<boolean>;
  isPaired(channel: string, senderId: string): boolean;
  list(): { readonly waiting: readonly PairingRequest[]; readonly paired: readonly PairedSender[] };
}

// Without I, L and O, and without 0 and 1, which people mix up.
const alphabet = "ABCDEFGHJKMNPQRSTUVWXYZ23456789";
const validMs = 10 * 60_000;
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

export function createPairing(records: PairingRecords, options: { readonly now: () => number }): Pairing {
  const { now } = options;
  /** Codes that lost their place but were already told: asking again must not make a chat window fill up. */
  const dropped = new LRUCache<string, Waiting>({ max: rememberedDropped });
  const changes = new InOrder();

  const isValid = (entry: Waiting): boolean => now() < entry.createdAt + validMs;

  const waiting = (): Waiting[] =>
    records
      .list()
      .filter(({ id }) => id.startsWith("waiting:"))
      .flatMap(({ value }) => waitingRecord.safeParse(value).data ?? [])
      .sort((a, b) => a.askedAt - b.askedAt);

  const makeRoom = async (channel: string): Promise<void> => {
    for (const entry of waiting().filter((each) => !isValid(each))) await records.delete(waitingId(entry));
    const inChannel = waiting().filter((entry) => entry.channel === channel);
    for (const entry of inChannel.slice(0, Math.max(0, inChannel.length - waitingPerChannel + 1))) {
      await records.delete(waitingId(entry));
      remember(entry);
    }
  };

  const remember = (entry: Waiting): void => {
    for (const [id, each] of dropped) if (!isValid(each)) dropped.delete(id);
    dropped.set(waitingId(entry), entry);
  };

  const request = async (channel: string, senderId: string, senderName?: string) => {
    const id = waitingId({ channel, senderId });
    const current = waitingRecord.safeParse(records.get(id)).data;
    if (current && isValid(current)) return { code: current.code, isNew: false };
    const earlier = dropped.get(id);
    const entry: Waiting =
      earlier && isValid(earlier)
        ? { ...earlier, askedAt: now() }
        : { code: newCode(), channel, senderId, ...nameOf(senderName), createdAt: now(), askedAt: now() };
    await makeRoom(channel);
    await records.put(id, entry);
    dropped.delete(id);
    return { code: entry.code, isNew: entry.code !== earlier?.code };
  };

  /** When wrong codes were tried lately, Unix ms. */
  const wrongLately = (): readonly number[] =>
    (wrongRecord.safeParse(records.get(wrongId)).data ?? []).filter((at) => at > now() - validMs);

  const assertTriesLeft = (): void => {
    const wrong = wrongLately();
    const [oldest] = wrong;
    if (oldest === undefined || wrong.length < wrongTries) return;
    const retryAfterMs = oldest + validMs - now();
    const minutes = Math.ceil(retryAfterMs / 60_000);
    throw new RequestError(`Too many wrong codes were tried. Try again in ${minutes} minutes.`, {
      status: 429,
      code: "RATE_LIMIT",
      retryAfterMs,
    });
  };

  const approve = async (code: string): Promise<PairedSender | undefined> => {
    assertTriesLeft();
    const wanted = digest(code.toUpperCase().replace(/[\s-]/g, ""));
    // Every entry is compared, so that the time taken says nothing about how close a guess was.
    const [match] = waiting().filter((entry) => timingSafeEqual(digest(entry.code), wanted) && isValid(entry));
    if (match === undefined) {
      await records.put(wrongId, [...wrongLately(), now()]);
      return undefined;
    }
    const paired: PairedSender = {
      channel: match.channel,
      senderId: match.senderId,
      ...nameOf(match.senderName),
      pairedAt: new Date(now()).toISOString(),
    };
    await records.put(pairedId(match.channel, match.senderId), paired);
    await records.delete(waitingId(match));
    return paired;
  };

  return {
    request: (channel, senderId, senderName) => changes.run(() => request(channel, senderId, senderName)),
    approve: (code) => changes.run(() => approve(code)),
    revoke: (channel, senderId) =>
      changes.run(async () => {
        const id = pairedId(channel, senderId);
        if (records.get(id) === undefined) return false;
        await records.delete(id);
        return true;
      }),
    isPaired: (channel, senderId) => pairedRecord.safeParse(records.get(pairedId(channel, senderId))).success,
    list: () => ({
      waiting: waiting().filter(isValid).map(toRequest),
      paired: records
        .list()
        .filter(({ id }) => id.startsWith("paired:"))
        .flatMap(({ value }) => toPaired(pairedRecord.safeParse(value).data)),
    }),
  };
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

function newCode(): string {
  return Array.from({ length: 8 }, () => alphabet.charAt(randomInt(alphabet.length))).join("");
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
