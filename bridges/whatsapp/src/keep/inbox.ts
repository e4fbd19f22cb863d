import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { frameMessage } from "../../../../src/channels/whatsapp/frames.js";
import { makeFolder } from "../../../../src/util/files/make-folder.js";
import { replaceFile } from "../../../../src/util/files/replace-file.js";
import { syncPath } from "../../../../src/util/files/sync-path.js";
import type { Arrived } from "../whatsapp.js";

const record = z.object({ message: frameMessage, media: z.string().optional() });

/** So many wait at most. Then WhatsApp is not told that the next one has arrived, and keeps it. */
const mostWaiting = 10_000;
const mostKnown = 2000;

export interface Waiting extends Arrived {
  readonly seq: number;
}

/**
 * What WhatsApp was told has arrived, until the gateway has it: a file for each message. A message that comes again is
 * recognised while it is here and for some time after; later, the gateway recognises it by its id.
 */
export class BridgeInbox {
  readonly #folder: string;
  readonly #mostWaiting: number;
  readonly #waiting = new Map<number, Waiting>();
  readonly #known = new Map<string, Promise<void>>();
  #lastSeq = 0;
  #onRoom: (() => void)[] = [];

  private constructor(folder: string, most: number) {
    this.#folder = folder;
    this.#mostWaiting = most;
  }

  static async open(folder: string, most = mostWaiting): Promise<BridgeInbox> {
    await makeFolder(folder);
    const inbox = new BridgeInbox(folder, most);
    const names = (await readdir(folder)).filter((name) => /^\d+\.json$/.test(name)).sort();
    for (const name of names) {
      const path = join(folder, name);
      const read = record.safeParse(JSON.parse(await readFile(path, "utf8")));
      if (!read.success) throw new Error(`${path} is not a message of this bridge. Move it elsewhere.`);
      const seq = Number.parseInt(name, 10);
      inbox.#waiting.set(seq, { ...read.data, seq });
      inbox.#known.set(keyOf(read.data.message), Promise.resolve());
      inbox.#lastSeq = Math.max(inbox.#lastSeq, seq);
    }
    return inbox;
  }

  /** Oldest first. */
  get waiting(): Iterable<Waiting> {
    return this.#waiting.values();
  }

  get count(): number {
    return this.#waiting.size;
  }

  find(seq: number): Waiting | undefined {
    return this.#waiting.get(seq);
  }

  /** Resolves once it is on the disk. Undefined: it was here before. */
  async add(arrived: Arrived, signal: AbortSignal): Promise<Waiting | undefined> {
    const key = keyOf(arrived.message);
    const before = this.#known.get(key);
    if (before !== undefined) {
      await before;
      return undefined;
    }
    while (this.#waiting.size >= this.#mostWaiting) await this.#room(signal);
    // Never used before, also by an earlier run: the gateway may still speak of that.
    this.#lastSeq = Math.max(Date.now(), this.#lastSeq + 1);
    const waiting = { ...arrived, seq: this.#lastSeq };
    const written = this.#write(waiting);
    this.#known.set(key, written);
    try {
      await written;
    } catch (error) {
      // It comes again, and may find room on the disk.
      this.#known.delete(key);
      throw error;
    }
    this.#waiting.set(waiting.seq, waiting);
    this.#forgetOldest();
    return waiting;
  }

  /** The gateway has it. One that comes back after a crash, because this was not on the disk, is recognised there. */
  async remove(seq: number): Promise<void> {
    if (!this.#waiting.delete(seq)) return;
    await rm(this.#pathOf(seq), { force: true });
    for (const wake of this.#onRoom.splice(0)) wake();
  }

  async #write({ seq, message, media }: Waiting): Promise<void> {
    await replaceFile(this.#pathOf(seq), JSON.stringify({ message, media }), { mode: 0o600 });
    await syncPath(this.#folder);
  }

  #pathOf(seq: number): string {
    return join(this.#folder, `${seq}.json`);
  }

  #room(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      this.#onRoom.push(resolve);
    });
  }

  #forgetOldest(): void {
    for (const key of this.#known.keys()) {
      if (this.#known.size <= mostKnown + this.#waiting.size) return;
      this.#known.delete(key);
    }
  }
}

function keyOf({ sender, participant, id, change, changeId }: Arrived["message"]): string {
  return [sender, participant, id, change, changeId].map((part) => part ?? "").join("\n");
}
