import { isNewId } from "../../../util/ids.js";

/** Who stores an event of an id for one use again does so at once: older ones need not be known. */
const keptIds = 128;
const firstRoom = 16;
const prefix = "evt_";
/** Of an id: its twenty digits, eight in a word, and the event's number. */
const wordsOfId = 4;
const digitsOfWord = 8;
const highestSeq = 0xffffffff;

/**
 * The ids of a session's newest events, each with the event's number. There are some in memory for each chat that was
 * used lately, so that an id for one use is kept as numbers: as strings in a map they took ten times as much.
 */
export class RecentIds {
  /** Ids for one use. Once there are `keptIds` of them, the oldest is replaced. */
  #words = new Uint32Array(0);
  #count = 0;
  #next = 0;
  /** Other ids, of this segment and of the one before. Those that may come again are also found in the log. */
  #others: Map<string, number> | undefined;
  #olderOthers: Map<string, number> | undefined;
  /** There was an event since the segment began. */
  #isUsed = false;

  get size(): number {
    return this.#count + (this.#others?.size ?? 0) + (this.#olderOthers?.size ?? 0);
  }

  add(id: string, seq: number): void {
    this.#isUsed = true;
    if (isPlain(id) && seq <= highestSeq) this.#addPlain(id, seq);
    else {
      this.#others ??= new Map();
      this.#others.set(id, seq);
    }
  }

  /** The number of the event with this id. */
  find(id: string): number | undefined {
    const found = isPlain(id) ? this.#findPlain(id) : undefined;
    return found ?? this.#others?.get(id) ?? this.#olderOthers?.get(id);
  }

  clear(): void {
    this.#words = new Uint32Array(0);
    this.#count = 0;
    this.#next = 0;
    this.#others = undefined;
    this.#olderOthers = undefined;
    this.#isUsed = false;
  }

  /** A new segment of the journal begins. What had no event in the one before is forgotten, unless some are still `pending`. */
  startSegment(isPending: boolean): void {
    if (!this.#isUsed && !isPending) this.clear();
    this.#isUsed = false;
    this.#olderOthers = this.#others;
    this.#others = undefined;
  }

  #addPlain(id: string, seq: number): void {
    const start = this.#next * wordsOfId;
    if (start === this.#words.length) this.#grow();
    for (let n = 0; n < wordsOfId - 1; n += 1) this.#words[start + n] = wordOf(id, n);
    this.#words[start + wordsOfId - 1] = seq;
    this.#next = (this.#next + 1) % keptIds;
    this.#count = Math.max(this.#count, this.#next === 0 ? keptIds : this.#next);
  }

  #findPlain(id: string): number | undefined {
    const words = this.#words;
    const [first, second, third] = [wordOf(id, 0), wordOf(id, 1), wordOf(id, 2)];
    for (let at = 0; at < this.#count * wordsOfId; at += wordsOfId)
      if (words[at] === first && words[at + 1] === second && words[at + 2] === third) return words[at + 3];
    return undefined;
  }

  #grow(): void {
    const wider = new Uint32Array(Math.max(firstRoom * wordsOfId, 2 * this.#words.length));
    wider.set(this.#words);
    this.#words = wider;
  }
}

function isPlain(id: string): boolean {
  return id.startsWith(prefix) && isNewId(id);
}

/** Of the digits eight, as a number; the third word has the four that are left. */
function wordOf(id: string, word: number): number {
  const start = prefix.length + word * digitsOfWord;
  let value = 0;
  for (let at = start; at < Math.min(start + digitsOfWord, id.length); at += 1) {
    const code = id.charCodeAt(at);
    // Digits and small letters alone.
    value = value * 16 + (code <= 0x39 ? code - 0x30 : code - 0x57);
  }
  return value;
}
