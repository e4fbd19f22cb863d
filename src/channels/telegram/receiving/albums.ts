import { LRUCache } from "lru-cache";
import { sleep } from "../../../util/async/sleep.js";
import type { ReceivedMessage } from "../../channel.js";

/** A part of an album that waits for the others. */
interface Album {
  readonly parts: ReceivedMessage[];
  readonly whole: Promise<ReceivedMessage>;
}

/** What of an album was passed on already. */
export interface PassedOn {
  /** Of its parts. */
  readonly ids: readonly (string | undefined)[];
  readonly addressed: boolean;
}

/** Albums that are over, and are known in case that more of one comes. */
const mostKnown = 100;

/** Photos and files that were sent together come as messages of their own, one right after the other: one is made of them. */
export class Albums {
  readonly #holdMs: number;
  readonly #signal: AbortSignal;
  readonly #held = new Map<string, Album>();
  readonly #over = new LRUCache<string, PassedOn>({ max: mostKnown });
  #polls: number | undefined;

  /** An album is whole when `holdMs` have passed since its newest part, and a poll since then has brought no more. */
  constructor(holdMs: number, signal: AbortSignal) {
    this.#holdMs = holdMs;
    this.#signal = signal;
  }

  get isHolding(): boolean {
    return this.#held.size > 0;
  }

  /** A poll is answered: what it brought is added next. Never called where nothing is polled. */
  polled(): void {
    this.#polls = (this.#polls ?? 0) + 1;
  }

  /** Set when parts of this album were passed on already: another one is a message of its own. */
  passedOn(id: string): PassedOn | undefined {
    return this.#over.get(id);
  }

  /**
   * The whole album, for its first part; undefined for a part that joins an album which is held already. The promise
   * rejects when the signal aborts first. `before`: what {@link passedOn} said when the part came for the first time.
   */
  add(id: string, part: ReceivedMessage, before?: PassedOn): Promise<ReceivedMessage> | undefined {
    const key = holdKey(id, before);
    const held = this.#held.get(key);
    if (held !== undefined) {
      held.parts.push(part);
      return undefined;
    }
    const parts = [part];
    const album: Album = { parts, whole: this.#wait(id, parts, before) };
    this.#held.set(key, album);
    return album.whole;
  }

  async #wait(id: string, parts: readonly ReceivedMessage[], before?: PassedOn): Promise<ReceivedMessage> {
    try {
      let known = 0;
      let polls: number | undefined;
      while (known < parts.length || (polls !== undefined && polls === this.#polls)) {
        if (known < parts.length) polls = this.#polls;
        known = parts.length;
        await sleep(this.#holdMs, this.#signal);
      }
    } finally {
      this.#held.delete(holdKey(id, before));
    }
    const late = parts.filter(({ dedupId }) => before?.ids.includes(dedupId) !== true);
    // What comes after the album was passed on is a message of its own.
    const isLate = before !== undefined && late.length > 0;
    const { dedupId, ...whole } = joined(isLate ? late : parts);
    const addressed = whole.addressed || before?.addressed === true;
    const known = [this.#over.get(id), before].flatMap((passed) => passed?.ids ?? []);
    this.#over.set(id, { ids: [...new Set([...known, ...late.map((part) => part.dedupId)])], addressed });
    return { ...whole, addressed, dedupId: isLate ? dedupId : `${dedupId?.replace(/:[^:]*$/, "")}:album:${id}` };
  }
}

/** Parts that are late are held apart from those before them, also when both come again after a restart. */
export function holdKey(id: string, before: PassedOn | undefined): string {
  return before === undefined ? id : `${id} after ${before.ids.length}`;
}

function joined(parts: readonly ReceivedMessage[]): ReceivedMessage {
  const [first, ...others] = parts;
  if (first === undefined) throw new Error("An album had no part");
  const answering = parts.find(({ quoted }) => quoted !== undefined) ?? first;
  return {
    ...first,
    content: parts.flatMap(({ content }) => (content === "" ? [] : [content])).join("\n"),
    files: parts.flatMap(({ files = [] }) => files),
    addressed: parts.some(({ addressed }) => addressed),
    ...(others.length === 0 ? {} : { quoted: answering.quoted, quotedFiles: answering.quotedFiles }),
  };
}
