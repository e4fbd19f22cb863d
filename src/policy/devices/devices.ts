import { createHash, randomBytes } from "node:crypto";
import { z } from "zod";
import type { PairingRecords } from "../pairing.js";
import { TokenPrint } from "./token-print.js";

/** A browser that is signed in. */
export interface Device {
  readonly id: string;
  readonly name: string;
  /** E.g. `Chrome on Android`, as it says itself. */
  readonly browser: string;
  /** Where its last request came from. */
  readonly address: string;
  /** ISO 8601. */
  readonly firstSeen: string;
  /** ISO 8601, at most ten minutes late. */
  readonly lastSeen: string;
  /** It signed in over TLS: its cookie is for TLS only. */
  readonly isSecure: boolean;
}

/** Who signs in, or comes back. */
export interface Visit {
  readonly address: string;
  readonly browser: string;
  readonly isSecure: boolean;
}

export interface DeviceOptions {
  /** Unix ms. */
  readonly now: () => number;
  /** The gateway's: another one than before signs all devices out. */
  readonly token: string | undefined;
  /** After so many days without a visit a device is signed out. */
  readonly idleDays: () => number;
  /** Other nodes sign devices in and out as well. */
  readonly isShared?: boolean;
}

const stored = z.object({
  name: z.string(),
  browser: z.string(),
  address: z.string(),
  firstSeen: z.number(),
  lastSeen: z.number(),
  isSecure: z.boolean(),
});
type Stored = z.infer<typeof stored>;

const left = z.object({ at: z.number() });

const prefix = "device:";
/** Begins the names of those that somebody has signed out. */
const leftPrefix = "left:";
const dayMs = 86_400_000;
const renewAfterMs = 10 * 60_000;
const mostDevices = 100;
/** So often it is looked for devices that another node has signed out. */
const lookMs = 1000;
/** 32 bytes in base64url. */
const secretPattern = /^[\w-]{43}$/;

/** Browsers that are signed in. Each has a secret of its own, of which only a hash is kept. */
export class Devices {
  readonly #records: PairingRecords;
  readonly #options: DeviceOptions;
  readonly #print: TokenPrint;
  readonly #renewing = new Set<string>();
  readonly #listeners = new Set<(id: string) => void>();
  /** Those that this node has let in, where others may sign them out. */
  readonly #letIn = new Set<string>();
  #looking: NodeJS.Timeout | undefined;
  #settled: Promise<void> | undefined;

  constructor(records: PairingRecords, options: DeviceOptions) {
    this.#records = records;
    this.#options = options;
    this.#print = new TokenPrint(records);
  }

  /** The one that was seen last comes first. */
  async list(): Promise<readonly Device[]> {
    await this.settle();
    const all = this.#all();
    for (const { recordId, value } of all) if (this.#isIdle(value)) await this.#drop(recordId);
    return all.filter(({ value }) => !this.#isIdle(value)).map(({ recordId, value }) => toDevice(recordId, value));
  }

  /** A new one, for who has shown the token or an invitation. The secret is its cookie, and nobody has it twice. */
  async add(visit: Visit & { readonly name?: string | undefined }): Promise<{ device: Device; secret: string }> {
    await this.settle();
    for (const { recordId } of this.#all().slice(mostDevices - 1)) await this.#drop(recordId);
    const secret = randomBytes(32).toString("base64url");
    const now = this.#options.now();
    const { address, browser, isSecure } = visit;
    const name = nameOf(visit.name ?? "") || browser;
    const value: Stored = { name, browser, address, firstSeen: now, lastSeen: now, isSecure };
    const recordId = recordIdOf(secret);
    await this.#records.put(recordId, value);
    return { device: toDevice(recordId, value), secret };
  }

  /** The device with this secret. `isRenewed`: it has not been seen for a while, and its days count from now again. */
  async find(secret: string, visit: Visit): Promise<{ device: Device; isRenewed: boolean } | undefined> {
    if (!secretPattern.test(secret)) return undefined;
    await this.settle();
    const recordId = recordIdOf(secret);
    const shown = this.#read(recordId);
    const value = shown ?? (await this.#readStored(recordId));
    if (value === undefined) return undefined;
    if (this.#isIdle(value)) {
      await this.#drop(recordId);
      return undefined;
    }
    const isRenewed = await this.#renew(recordId, value, visit);
    const current = shown === undefined ? value : this.#read(recordId);
    if (current === undefined) return undefined;
    if (this.#options.isShared === true) this.#letIn.add(idOf(recordId));
    return { device: toDevice(recordId, current), isRenewed };
  }

  /** At this moment, without a look at how long ago it was seen. */
  isKnown(id: string): boolean {
    return this.#recordIdOf(id) !== undefined;
  }

  /** Undefined: there is none. */
  async rename(id: string, name: string): Promise<Device | undefined> {
    const recordId = this.#recordIdOf(id);
    const text = nameOf(name);
    if (recordId === undefined || text === "") return undefined;
    const value = await this.#records.update(recordId, (before) => {
      const device = stored.safeParse(before).data;
      return device === undefined ? before : { ...device, name: text };
    });
    const renamed = stored.safeParse(value).data;
    return renamed === undefined ? undefined : toDevice(recordId, renamed);
  }

  /** Signs it out. False: there is none. */
  async remove(id: string): Promise<boolean> {
    const recordId = this.#recordIdOf(id);
    if (recordId === undefined) return false;
    // At once: it may be coming back at this moment, and asks why as soon as its connections end.
    const noted = this.#records.put(leftIdOf(recordId), { at: this.#options.now() });
    const [wasThere] = await Promise.all([this.#drop(recordId), noted]);
    await this.#forgetLeft();
    return wasThere;
  }

  /** Somebody has signed out the device that had this secret: it did not just stay away for too long. */
  wasSignedOut(secret: string): boolean {
    const recordId = recordIdOf(secret);
    return this.#read(recordId) === undefined && left.safeParse(this.#records.get(leftIdOf(recordId))).success;
  }

  /** `listener` gets the id of each device that is signed out, at once; where another node does it, within two seconds. Returns the undo. */
  onRemoved(listener: (id: string) => void): () => void {
    this.#listeners.add(listener);
    if (this.#options.isShared === true) this.#looking ??= setInterval(() => this.#look(), lookMs).unref();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearInterval(this.#looking);
      this.#looking = undefined;
    };
  }

  /** Resolves once devices and invitations of another token are gone. */
  settle(): Promise<void> {
    this.#settled ??= this.#settle().catch((error: unknown) => {
      // The next one tries again.
      this.#settled = undefined;
      throw error;
    });
    return this.#settled;
  }

  async #settle(): Promise<void> {
    if (await this.#print.isSame(this.#options.token)) return;
    for (const { id } of this.#records.list()) {
      if (id.startsWith(prefix)) await this.#drop(id);
      else if (!id.startsWith(leftPrefix)) await this.#records.delete(id);
    }
    await this.#print.keep(this.#options.token);
  }

  /** The days of who comes back begin again. A disk that is full keeps nobody out. */
  async #renew(recordId: string, { lastSeen }: Stored, visit: Visit): Promise<boolean> {
    const now = this.#options.now();
    if (now - lastSeen < renewAfterMs || this.#renewing.has(recordId)) return false;
    this.#renewing.add(recordId);
    const { address, browser } = visit;
    try {
      await this.#records.update(recordId, (before) => {
        const device = stored.safeParse(before).data;
        return device === undefined ? before : { ...device, address, browser, lastSeen: now };
      });
      return true;
    } catch {
      return false;
    } finally {
      this.#renewing.delete(recordId);
    }
  }

  /** As long as a browser may come back with its cookie. */
  async #forgetLeft(): Promise<void> {
    const since = this.#options.now() - this.#options.idleDays() * dayMs;
    const all = this.#records.list().flatMap(({ id, value }) => {
      const { at } = (id.startsWith(leftPrefix) ? left.safeParse(value).data : undefined) ?? {};
      return at === undefined ? [] : [{ id, at }];
    });
    const newestFirst = all.sort((a, b) => b.at - a.at);
    for (const [place, { id, at }] of newestFirst.entries())
      if (place >= mostDevices || at < since) await this.#records.delete(id);
  }

  async #drop(recordId: string): Promise<boolean> {
    let wasThere = false;
    await this.#records.update(recordId, (value) => {
      wasThere = value !== undefined;
      return undefined;
    });
    if (wasThere) for (const listener of this.#listeners) listener(idOf(recordId));
    return wasThere;
  }

  #look(): void {
    if (this.#letIn.size === 0) return;
    const known = new Set(this.#all().map(({ recordId }) => idOf(recordId)));
    for (const id of this.#letIn) {
      if (known.has(id)) continue;
      this.#letIn.delete(id);
      for (const listener of this.#listeners) listener(id);
    }
  }

  #read(recordId: string): Stored | undefined {
    return stored.safeParse(this.#records.get(recordId)).data;
  }

  /** Another node may have signed it in a moment ago. */
  async #readStored(recordId: string): Promise<Stored | undefined> {
    return stored.safeParse(await this.#records.update(recordId, (value) => value)).data;
  }

  #all(): readonly { readonly recordId: string; readonly value: Stored }[] {
    return this.#records
      .list()
      .flatMap(({ id, value }) => {
        const device = id.startsWith(prefix) ? stored.safeParse(value).data : undefined;
        return device === undefined ? [] : [{ recordId: id, value: device }];
      })
      .sort((a, b) => b.value.lastSeen - a.value.lastSeen);
  }

  #recordIdOf(id: string): string | undefined {
    return this.#records.list().find((record) => record.id.startsWith(prefix) && idOf(record.id) === id)?.id;
  }

  #isIdle({ lastSeen }: Stored): boolean {
    return this.#options.now() - lastSeen > this.#options.idleDays() * dayMs;
  }
}

function recordIdOf(secret: string): string {
  return prefix + createHash("sha256").update(secret).digest("hex");
}

function leftIdOf(recordId: string): string {
  return leftPrefix + recordId.slice(prefix.length);
}

/** A part of the hash: enough to name it, and of no use to who wants to be it. */
function idOf(recordId: string): string {
  return recordId.slice(prefix.length, prefix.length + 12);
}

function toDevice(recordId: string, { name, browser, address, firstSeen, lastSeen, isSecure }: Stored): Device {
  return {
    id: idOf(recordId),
    name,
    browser,
    address,
    firstSeen: new Date(firstSeen).toISOString(),
    lastSeen: new Date(lastSeen).toISOString(),
    isSecure,
  };
}

/** One short line without control characters. */
function nameOf(text: string): string {
  const name = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
  return Array.from(name).slice(0, 80).join("");
}
