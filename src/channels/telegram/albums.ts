import { sleep } from "../../util/sleep.js";
import type { ReceivedMessage } from "../channel.js";

/** A part of an album that waits for the others. */
interface Album {
  readonly parts: ReceivedMessage[];
  readonly whole: Promise<ReceivedMessage>;
}

/** Photos and files that were sent together come as messages of their own, one right after the other: one is made of them. */
export class Albums {
  readonly #holdMs: number;
  readonly #signal: AbortSignal;
  readonly #held = new Map<string, Album>();

  /** An album is whole when `holdMs` have passed since its newest part. */
  constructor(holdMs: number, signal: AbortSignal) {
    this.#holdMs = holdMs;
    this.#signal = signal;
  }

  get isHolding(): boolean {
    return this.#held.size > 0;
  }

  /**
   * The whole album, for its first part; undefined for a part that joins an album which is held already. The promise
   * rejects when the signal aborts first.
   */
  add(id: string, part: ReceivedMessage): Promise<ReceivedMessage> | undefined {
    const held = this.#held.get(id);
    if (held !== undefined) {
      held.parts.push(part);
      return undefined;
    }
    const parts = [part];
    const album: Album = { parts, whole: this.#wait(id, parts) };
    this.#held.set(id, album);
    return album.whole;
  }

  async #wait(id: string, parts: readonly ReceivedMessage[]): Promise<ReceivedMessage> {
    try {
      for (let before = 0; before < parts.length; ) {
        before = parts.length;
        await sleep(this.#holdMs, this.#signal);
      }
    } finally {
      this.#held.delete(id);
    }
    return joined(id, parts);
  }
}

function joined(id: string, parts: readonly ReceivedMessage[]): ReceivedMessage {
  const [first, ...others] = parts;
  if (first === undefined) throw new Error("An album had no part");
  return {
    ...first,
    content: parts.flatMap(({ content }) => (content === "" ? [] : [content])).join("\n"),
    files: parts.flatMap(({ files = [] }) => files),
    addressed: parts.some(({ addressed }) => addressed),
    // The same for all of it, however many of its parts Telegram hands out again.
    dedupId: `${first.dedupId?.replace(/:[^:]*$/, "")}:album:${id}`,
    ...(others.length === 0 ? {} : { quoted: parts.find(({ quoted }) => quoted !== undefined)?.quoted }),
  };
}
