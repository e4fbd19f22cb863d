import { crc32 } from "node:zlib";
import type { StoredEvent } from "../../../events/event.js";
import { isStoredEventShape } from "../journal/operations.js";

const newline = 0x0a;
const jsonStart = 9;
/** Where a line of a log may begin. */
const lineHead = /[0-9a-f]{8} \{"/g;
/** Looking for a flipped bit takes time for each bit that there is. */
const mostCorrected = 4 * 1024 * 1024;
const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => (crc32(Buffer.of(byte)) ^ crc32(Buffer.of(0))) >>> 0);

/**
 * The events of one session that can still be told from damaged lines which are behind each other: those with one
 * flipped bit, those that have been joined with others or split, and those behind rubbish. What is returned is what was
 * written: the checksum says where the bit was.
 */
export function salvageEvents(lines: readonly Buffer[], sessionKey: string): readonly StoredEvent[] {
  const events: StoredEvent[] = [];
  let failed: Buffer[] = [];
  const joinFailed = (): void => {
    // The flipped bit has made a line's end in the midst of a line.
    for (const [index, line] of failed.entries()) {
      const next = failed[index + 1];
      const event = next === undefined ? undefined : readPiece(Buffer.concat([line, next]), sessionKey);
      if (event !== undefined) events.push(event);
    }
    failed = [];
  };
  for (const line of lines) {
    const found = salvageLine(line, sessionKey);
    if (found.length === 0) failed.push(line);
    else {
      joinFailed();
      events.push(...found);
    }
  }
  joinFailed();
  return events;
}

function salvageLine(line: Buffer, sessionKey: string): readonly StoredEvent[] {
  const whole = readPiece(line, sessionKey);
  if (whole !== undefined) return [whole];
  const starts = [...line.toString("latin1").matchAll(lineHead)].map(({ index }) => index);
  const borders = [...new Set([0, ...starts, line.length])];
  return borders.slice(0, -1).flatMap((start, index) => {
    const event = readPiece(line.subarray(start, borders[index + 1]), sessionKey);
    return event === undefined ? [] : [event];
  });
}

/** What should be one line, with or without its end, or with another byte instead of its end. */
function readPiece(piece: Buffer, sessionKey: string): StoredEvent | undefined {
  const ends = piece.at(-1) === newline ? [piece.length - 1] : [piece.length, piece.length - 1];
  for (const end of ends) {
    if (end <= jsonStart) continue;
    const event = readBody(piece.toString("latin1", 0, jsonStart - 1), piece.subarray(jsonStart, end), sessionKey);
    if (event !== undefined) return event;
  }
  return undefined;
}

function readBody(checksum: string, body: Buffer, sessionKey: string): StoredEvent | undefined {
  const sum = crc32(body);
  const written = sum.toString(16).padStart(8, "0");
  if (differences(checksum, written) <= 1) return parse(body, sessionKey);
  if (!/^[0-9a-f]{8}$/.test(checksum) || body.length > mostCorrected) return undefined;
  const bit = flippedBit(body.length, (sum ^ Number.parseInt(checksum, 16)) >>> 0);
  if (bit === undefined) return undefined;
  const corrected = Buffer.from(body);
  corrected[bit >> 3] = (body[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return parse(corrected, sessionKey);
}

function parse(body: Buffer, sessionKey: string): StoredEvent | undefined {
  try {
    const value: unknown = JSON.parse(body.toString());
    return isStoredEventShape(value) && value.session_key === sessionKey ? value : undefined;
  } catch {
    return undefined;
  }
}

function differences(one: string, other: string): number {
  let count = 0;
  for (let index = 0; index < 8; index += 1) if (one[index] !== other[index]) count += 1;
  return count;
}

/** Which one bit of so many bytes changes their checksum in this way: CRC-32 tells each of them apart. */
function flippedBit(length: number, change: number): number | undefined {
  const changes = Uint32Array.from({ length: 8 }, (_, bit) => crcTable[1 << bit] ?? 0);
  for (let byte = length - 1; byte >= 0; byte -= 1) {
    for (let bit = 0; bit < 8; bit += 1) {
      const ofBit = changes[bit] ?? 0;
      if (ofBit === change) return byte * 8 + bit;
      changes[bit] = (crcTable[ofBit & 0xff] ?? 0) ^ (ofBit >>> 8);
    }
  }
  return undefined;
}
