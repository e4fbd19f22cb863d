const lf = 0x0a;
const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const underscore = 0x5f;
/** Of a time as `toISOString` writes it. */
const timeLength = 24;
const opening = Buffer.from('{"key":"');
const fileName = Buffer.from('","file":"');
const plainSuffix = Buffer.from(".json");
const sequence = Buffer.from(',"lastSequence":');
const time = Buffer.from(',"lastMessageAt":"');

/** What is needed of a line as long as nobody looks at it. */
export interface LineHead {
  readonly key: string;
  /** The document's file. */
  readonly file: string;
  /** Unix ms. */
  readonly at: number | undefined;
  readonly lastSequence: number | undefined;
}

/**
 * A line of an index file, read as bytes: what `lineText` has written is understood without parsing the line, and without a string of it.
 * There is one for all lines of a file, which shows each in turn: to keep something of it, take a copy.
 */
export class IndexLine {
  piece: Buffer = Buffer.alloc(0);
  start = 0;
  end = 0;
  /** Of the line in its file. */
  offset = 0;
  /** It is as `lineText` writes it, and its file is named as most are. */
  isPlain = false;
  readonly keyStart = opening.length;
  keyEnd = 0;
  at: number | undefined;
  lastSequence: number | undefined;
  readonly #parse: (line: Buffer) => LineHead | undefined;
  #fileEnd = 0;
  #isRead = false;

  /** `parse` is for lines that others have written. */
  constructor(parse: (line: Buffer) => LineHead | undefined) {
    this.#parse = parse;
  }

  get length(): number {
    return this.end - this.start;
  }

  /** Its end of line included, where it has one. */
  get bytes(): Buffer {
    return this.piece.subarray(this.start, this.end);
  }

  get isWhole(): boolean {
    return this.piece[this.end - 1] === lf;
  }

  /** Undefined where it is not a line of an index. */
  get head(): LineHead | undefined {
    if (!this.#isRead) return this.#parse(this.bytes);
    const { piece, at, lastSequence } = this;
    const key = piece.toString("latin1", this.start + this.keyStart, this.keyEnd);
    return { key, file: piece.toString("latin1", this.keyEnd + fileName.length, this.#fileEnd), at, lastSequence };
  }

  stand(piece: Buffer, start: number, end: number, offset: number): void {
    this.piece = piece;
    this.start = start;
    this.end = end;
    this.offset = offset;
    this.#isRead = this.isWhole && this.#read();
    this.isPlain = this.#isRead && this.#isNamedPlainly();
  }

  #read(): boolean {
    const { piece, start } = this;
    this.at = undefined;
    this.lastSequence = undefined;
    if (!isAt(piece, start, opening)) return false;
    this.keyEnd = plainEnd(piece, start + opening.length, this.end);
    if (this.keyEnd === -1 || !isAt(piece, this.keyEnd, fileName)) return false;
    this.#fileEnd = plainEnd(piece, this.keyEnd + fileName.length, this.end);
    if (this.#fileEnd === -1) return false;
    let next = this.#fileEnd + 1;
    if (isAt(piece, next, sequence)) {
      next += sequence.length;
      this.lastSequence = 0;
      for (let digit = digitAt(piece, next); digit !== -1; digit = digitAt(piece, next)) {
        this.lastSequence = this.lastSequence * 10 + digit;
        next += 1;
      }
    }
    if (isAt(piece, next, time)) {
      next += time.length;
      this.at = timeAt(piece, next);
      next += timeLength + 1;
      if (this.at === undefined || piece[next - 1] !== quote) return false;
    }
    return piece[next] === 0x2c || piece[next] === 0x7d;
  }

  /** `telegram_42.json` for `telegram:42`. */
  #isNamedPlainly(): boolean {
    const { piece, keyEnd } = this;
    const keyStart = this.start + this.keyStart;
    const fileStart = keyEnd + fileName.length;
    const length = keyEnd - keyStart;
    if (this.#fileEnd - fileStart !== length + plainSuffix.length) return false;
    let cut = -1;
    for (let n = 0; n < length; n += 1) {
      const byte = piece[keyStart + n];
      if (cut === -1 && byte === underscore) return false;
      const isCut = cut === -1 && byte === colon;
      if (isCut) cut = n;
      if (piece[fileStart + n] !== (isCut ? underscore : byte)) return false;
    }
    return cut > 0 && isAt(piece, fileStart + length, plainSuffix);
  }
}

function isAt(bytes: Buffer, start: number, expected: Buffer): boolean {
  for (let n = 0; n < expected.length; n += 1) if (bytes[start + n] !== expected[n]) return false;
  return true;
}

/** The end of a JSON string in which each byte stands for itself; -1 where one does not. */
function plainEnd(bytes: Buffer, start: number, end: number): number {
  for (let n = start; n < end; n += 1) {
    const byte = bytes[n] ?? 0;
    if (byte === quote) return n;
    if (byte === backslash || byte < 0x20 || byte > 0x7e) return -1;
  }
  return -1;
}

/** -1 where there is none. */
function digitAt(bytes: Buffer, index: number): number {
  const byte = bytes[index] ?? 0;
  return byte >= 0x30 && byte <= 0x39 ? byte - 0x30 : -1;
}

/** Unix ms of `2026-11-22T15:40:00.000Z`; undefined for whatever else is there. */
function timeAt(bytes: Buffer, start: number): number | undefined {
  const number = (from: number, count: number): number => {
    let value = 0;
    for (let n = 0; n < count; n += 1) {
      const digit = digitAt(bytes, start + from + n);
      if (digit === -1) return Number.NaN;
      value = value * 10 + digit;
    }
    return value;
  };
  const isMark = (at: number, mark: number): boolean => bytes[start + at] === mark;
  const isForm =
    isMark(4, 0x2d) &&
    isMark(7, 0x2d) &&
    isMark(10, 0x54) &&
    isMark(13, colon) &&
    isMark(16, colon) &&
    isMark(19, 0x2e) &&
    isMark(23, 0x5a);
  const [month, day, hour, minute, second] = [number(5, 2), number(8, 2), number(11, 2), number(14, 2), number(17, 2)];
  const isTime = month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour <= 23 && minute <= 59 && second <= 59;
  if (!isForm || !isTime) return undefined;
  const at = Date.UTC(number(0, 4), month - 1, day, hour, minute, second, number(20, 3));
  return Number.isNaN(at) ? undefined : at;
}
