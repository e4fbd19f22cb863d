import { foldText } from "./fold-text.js";
import type { Spoken } from "./spoken.js";

export const lf = 0x0a;
const tab = 0x09;
const textType = 0x6d;
const cursorType = 0x63;
const blank = 0x20;
const fieldsBeforeText = 7;
/** Of the time in a text's line, so that it is read without looking for it. */
const timeDigits = 15;

/** Where a text is: its session, its event, and which of the event's texts it is. */
export interface Place {
  readonly key: string;
  readonly seq: number;
  readonly part: number;
  /** Unix ms. */
  readonly at: number;
}

/** Up to where a session's log has been read, and a mark of the event there: a log that has another one there is another log. */
export interface Cursor {
  readonly seq: number;
  readonly mark: number;
}

/** A key as it is in the file: in ASCII, without blanks. */
export function encodedKey(key: string): string {
  return encodeURI(key.toWellFormed());
}

/** `m <at> <key> <seq> <part> <who> <message id> <folded text>`, with tabs. */
export function textLine(key: string, seq: number, part: number, { at, who, messageId = "", text }: Spoken): string {
  const time = String(Math.max(0, at)).padStart(timeDigits, "0");
  const id = encodeURIComponent(messageId.toWellFormed());
  return `m\t${time}\t${encodedKey(key)}\t${seq}\t${part}\t${who}\t${id}\t${foldText(text).replaceAll("\0", " ")}\n`;
}

/** `c <key> <seq> <mark>`: ends what was written of a session in one step. */
export function cursorLine(key: string, { seq, mark }: Cursor): string {
  return `c\t${encodedKey(key)}\t${seq}\t${mark}\n`;
}

/** A line of the file, read as bytes as long as nobody wants it. `end` is that of its line feed. */
export class Line {
  bytes: Buffer = Buffer.alloc(0);
  start = 0;
  end = 0;
  #textStart = -1;

  stand(bytes: Buffer, start: number, end: number): this {
    this.bytes = bytes;
    this.start = start;
    this.end = end;
    this.#textStart = -1;
    return this;
  }

  get type(): "text" | "cursor" | "blank" | "other" {
    const { bytes, start, end } = this;
    if (end === start || bytes[start] === blank) return "blank";
    if (bytes[start + 1] !== tab) return "other";
    return bytes[start] === textType ? "text" : bytes[start] === cursorType ? "cursor" : "other";
  }

  /** A power cut leaves zeros where a file was to have something. */
  get hasZeros(): boolean {
    return this.bytes.subarray(this.start, this.end).includes(0);
  }

  /** Where the text begins; `end` where there is none. */
  get textStart(): number {
    if (this.#textStart !== -1) return this.#textStart;
    let at = this.start;
    for (let left = fieldsBeforeText; left > 0 && at < this.end; at += 1) if (this.bytes[at] === tab) left -= 1;
    this.#textStart = at;
    return at;
  }

  /** Whether the key begins so; `suffix` is what must follow. */
  hasKey(encoded: Buffer, suffix = "\t"): boolean {
    const from = this.start + (this.bytes[this.start] === textType ? 3 + timeDigits : 2);
    const to = from + encoded.length;
    if (to + suffix.length > this.end || this.bytes.compare(encoded, 0, encoded.length, from, to) !== 0) return false;
    return this.bytes.toString("latin1", to, to + suffix.length) === suffix;
  }

  /** Of a text's line. */
  place(): Place & { readonly messageId: string } {
    const [, at, key = "", seq, part, , id = ""] = this.#fields();
    return {
      key: decodeURI(key),
      seq: Number(seq),
      part: Number(part),
      at: Number(at),
      messageId: decodeURIComponent(id),
    };
  }

  /** Unix ms of a text, without looking at the rest. */
  get at(): number {
    const from = this.start + 2;
    let value = 0;
    for (let n = from; n < from + timeDigits; n += 1) value = value * 10 + (this.bytes[n] ?? 0x30) - 0x30;
    return value;
  }

  cursor(): Cursor & { readonly key: string } {
    const [, key = "", seq, mark] = this.#fields();
    return { key: decodeURI(key), seq: Number(seq), mark: Number(mark) };
  }

  #fields(): readonly string[] {
    const end = this.type === "text" ? this.textStart : this.end;
    return this.bytes.toString("latin1", this.start, end).split("\t");
  }
}

/** Newest first; those of one moment in a fixed order. */
export function comparePlaces(a: Place, b: Place): number {
  if (a.at !== b.at) return b.at - a.at;
  if (a.key !== b.key) return a.key < b.key ? -1 : 1;
  return a.seq === b.seq ? b.part - a.part : b.seq - a.seq;
}
