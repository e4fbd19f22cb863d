import { open } from "node:fs/promises";
import { isMissing } from "../../util/error-code.js";
import { readOnly } from "../../util/files/real-path.js";
import { documentSuffix } from "../file-names.js";
import { type SessionLine, sessionLine } from "./session-line.js";

const pieceBytes = 256 * 1024;
const lf = 0x0a;
const quote = 0x22;
const backslash = 0x5c;
/** Of a time as `toISOString` writes it. */
const timeLength = 24;

/** What is needed of a line as long as nobody looks at it. */
export interface LineHead {
  readonly key: string;
  /** The document's file. */
  readonly file: string;
  /** Unix ms. */
  readonly at: number | undefined;
  readonly lastSequence: number | undefined;
}

/** The line as it is written: what a start needs of it comes first, so that the rest need not be parsed. */
export function lineText({ key, file, lastSequence, lastMessageAt, ...rest }: SessionLine): string {
  return `${JSON.stringify({ key, file, lastSequence, lastMessageAt, ...rest })}\n`;
}

export function headOf({ key, file, lastSequence, lastMessageAt }: SessionLine): LineHead {
  const at = Date.parse(lastMessageAt ?? "");
  return { key, file, lastSequence, at: Number.isNaN(at) ? undefined : at };
}

export function parseLine(bytes: Buffer): SessionLine | undefined {
  try {
    return sessionLine.safeParse(JSON.parse(bytes.toString("utf8"))).data;
  } catch {
    return undefined;
  }
}

/** Calls back with each line of an index file, and after each piece of it. Undefined for lines that are not of an index. */
export async function eachIndexLine(
  path: string,
  onLine: (head: LineHead | undefined, offset: number, bytes: Buffer) => void,
  afterPiece: () => Promise<void> = async () => {},
): Promise<void> {
  const file = await open(path, readOnly).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (file === undefined) return;
  try {
    let buffer = Buffer.allocUnsafeSlow(pieceBytes);
    let rest = 0;
    for (let position = 0; ; ) {
      if (rest === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafeSlow(buffer.length)]);
      const { bytesRead } = await file.read(buffer, rest, buffer.length - rest, position);
      const piece = buffer.subarray(0, rest + bytesRead);
      const offset = position - rest;
      position += bytesRead;
      const end = bytesRead === 0 ? piece.length : piece.lastIndexOf(lf) + 1;
      eachLineOf(piece.subarray(0, end), offset, onLine);
      await afterPiece();
      rest = piece.length - end;
      buffer.copy(buffer, 0, end, piece.length);
      if (bytesRead === 0) return;
    }
  } finally {
    await file.close();
  }
}

function eachLineOf(
  piece: Buffer,
  offset: number,
  onLine: (head: LineHead | undefined, offset: number, bytes: Buffer) => void,
): void {
  for (let start = 0; start < piece.length; ) {
    const at = piece.indexOf(lf, start);
    const end = at === -1 ? piece.length : at + 1;
    const line = piece.subarray(start, end);
    onLine(readHead(line) ?? parsedHead(line), offset + start, line);
    start = end;
  }
}

function parsedHead(bytes: Buffer): LineHead | undefined {
  const line = parseLine(bytes);
  return line && headOf(line);
}

const opening = Buffer.from('{"key":"');
const fileName = Buffer.from('","file":"');
const sequence = Buffer.from(',"lastSequence":');
const time = Buffer.from(',"lastMessageAt":"');

/** The head of a line that `lineText` has written, without parsing the line; undefined for any other one. */
function readHead(line: Buffer): LineHead | undefined {
  if (line.at(-1) !== lf || !isAt(line, 0, opening)) return undefined;
  const keyEnd = plainEnd(line, opening.length);
  if (keyEnd === -1 || !isAt(line, keyEnd, fileName)) return undefined;
  const fileEnd = plainEnd(line, keyEnd + fileName.length);
  if (fileEnd === -1) return undefined;
  // New strings, which hold on to nothing: the key stays for long.
  const key = line.toString("latin1", opening.length, keyEnd);
  const file = line.toString("latin1", keyEnd + fileName.length, fileEnd);
  let next = fileEnd + 1;
  let lastSequence: number | undefined;
  if (isAt(line, next, sequence)) {
    next += sequence.length;
    lastSequence = 0;
    for (let digit = digitAt(line, next); digit !== undefined; digit = digitAt(line, next)) {
      lastSequence = lastSequence * 10 + digit;
      next += 1;
    }
  }
  let at: number | undefined;
  if (isAt(line, next, time)) {
    next += time.length + timeLength;
    at = Date.parse(line.toString("latin1", next - timeLength, next));
    if (Number.isNaN(at) || line[next] !== quote) return undefined;
    next += 1;
  }
  return line[next] === 0x2c || line[next] === 0x7d ? { key, file, lastSequence, at } : undefined;
}

function isAt(line: Buffer, start: number, expected: Buffer): boolean {
  for (let n = 0; n < expected.length; n += 1) if (line[start + n] !== expected[n]) return false;
  return true;
}

/** The end of a JSON string in which each byte stands for itself; -1 where one does not. */
function plainEnd(line: Buffer, start: number): number {
  for (let n = start; n < line.length; n += 1) {
    const byte = line[n] ?? 0;
    if (byte === quote) return n;
    if (byte === backslash || byte < 0x20 || byte > 0x7e) return -1;
  }
  return -1;
}

function digitAt(line: Buffer, index: number): number | undefined {
  const byte = line[index] ?? 0;
  return byte >= 0x30 && byte <= 0x39 ? byte - 0x30 : undefined;
}

/** The name of most documents, from which the key can be told. Undefined where it cannot. */
export function plainFile(key: string): string | undefined {
  const colon = key.indexOf(":");
  return colon > 0 && !key.slice(0, colon).includes("_")
    ? `${key.slice(0, colon)}_${key.slice(colon + 1)}${documentSuffix}`
    : undefined;
}

/** The key whose `plainFile` this is. */
export function keyOfPlainFile(file: string): string | undefined {
  const line = file.indexOf("_");
  return line < 1 || file.includes(":")
    ? undefined
    : `${file.slice(0, line)}:${file.slice(line + 1, -documentSuffix.length)}`;
}
