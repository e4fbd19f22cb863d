import { deserialize, serialize } from "node:v8";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { LRUCache } from "lru-cache";
import type { MutableSession } from "../resident-session.js";
import type { FoundFolds } from "./fold-file.js";
import { foldsOf } from "./session-folds.js";

const maxBytes = 8 * 1024 * 1024;

interface Packed {
  readonly place: FoundFolds["place"];
  readonly foldedSeq: number;
  readonly bytes: Buffer;
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
    const bytes = deflateRawSync(serialize(folds), { level: 1 });
    this.#packed.set(key, { place: { key, seq: session.document.lastSequence, eventId }, foldedSeq, bytes });
  }

  /** Gives it away: from now on it is somewhere else. */
  take(key: string): FoundFolds | undefined {
    const packed = this.#packed.get(key);
    if (packed === undefined) return undefined;
    this.#packed.delete(key);
    const { place, foldedSeq, bytes } = packed;
    // It is what `keep` has packed.
    return { place, foldedSeq, folds: deserialize(inflateRawSync(bytes)) as FoundFolds["folds"] };
  }

  forget(key: string): void {
    this.#packed.delete(key);
  }
}
