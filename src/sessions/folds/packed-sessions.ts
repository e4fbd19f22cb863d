import { deserialize, serialize } from "node:v8";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { LRUCache } from "lru-cache";
import type { MutableSession } from "../resident-session.js";
import type { FoundFolds } from "./fold-file.js";
import { foldsOf } from "./session-folds.js";

const maxBytes = 8 * 1024 * 1024;

interface Packed {
  readonly place: FoundFolds["place"];
  foldedSeq: number;
  readonly bytes: Uint8Array;
}

/**
 * Sessions that have left memory, compressed, as many as 8 MB hold. Where more chats are at work than
 * have room, each of them would else read its log again for each message.
 */
export class PackedSessions {
  readonly #packed = new LRUCache<string, Packed>({
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }) => bytes.length + 500,
  });

  keep(session: MutableSession): void {
    const folds = foldsOf(session);
    const { key, logged } = session;
    const { lastEventId: eventId, foldedSeq } = logged;
    if (folds === undefined || eventId === "") return;
    // What zlib gives is the beginning of a piece of 16 kB.
    const bytes = new Uint8Array(deflateRawSync(serialize(folds), { level: 1 }));
    this.#packed.set(key, { place: { key, seq: session.document.lastSequence, eventId }, foldedSeq, bytes });
  }

  find(key: string): FoundFolds | undefined {
    const packed = this.#packed.get(key);
    if (packed === undefined) return undefined;
    const { place, foldedSeq, bytes } = packed;
    // It is what `keep` has packed.
    return { place, foldedSeq, folds: deserialize(inflateRawSync(bytes)) as FoundFolds["folds"] };
  }

  /** Gives it away: from now on it is somewhere else. */
  take(key: string): FoundFolds | undefined {
    const found = this.find(key);
    this.#packed.delete(key);
    return found;
  }

  /** Its folds up to here are in a file. */
  noteFolded(key: string, foldedSeq: number): void {
    const packed = this.#packed.peek(key);
    if (packed !== undefined) packed.foldedSeq = foldedSeq;
  }

  forget(key: string): void {
    this.#packed.delete(key);
  }
}
