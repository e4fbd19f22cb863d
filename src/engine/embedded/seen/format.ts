import * as fs from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { codeOf } from "../../../util/error-code.js";
import { decodeLine, encodeLine } from "../journal/line.js";

/*
 * A sealed file of ids: a head, then blocks of sorted entries, then the first prefix of each block, then the filter.
 * A block is a checksum and up to 204 entries of 20 bytes: 16 of the id's hash, 4 of the second it was remembered at.
 */
export const entryBytes = 20;
export const blockBytes = 4096;
export const entriesPerBlock = 204;
const blockStart = 4;
const version = 1;

/** A sealed file as the journal names it. Times are Unix ms. */
export interface SealedInfo {
  readonly name: string;
  readonly count: number;
  /** When the newest of its ids was remembered. */
  readonly until: number;
}

/** What is at the head of a sealed file. */
export interface SealedHead extends SealedInfo {
  readonly filterBytes: number;
  /** Checksum of everything behind the blocks. */
  readonly tail: number;
}

export function seenFolder(journalFolder: string): string {
  return join(journalFolder, "seen");
}

export function sealedName(number: number): string {
  return `${String(number).padStart(8, "0")}.ids`;
}

/** The number in the name of a sealed file; undefined for any other file. */
export function numberOf(name: string): number | undefined {
  const digits = /^(\d{8})\.ids$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** All names in the folder; none when it is not there. */
export function namesIn(folder: string): readonly string[] {
  try {
    return fs.readdirSync(folder).sort();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}

export function blocksFor(count: number): number {
  return Math.ceil(count / entriesPerBlock);
}

/** Where the entry starts in its block. */
export function entryAt(index: number): number {
  return blockStart + index * entryBytes;
}

/** Sorts entries: what comes first in a number that JavaScript holds exactly. */
export function prefixOf(bytes: Buffer, offset = 0): number {
  return bytes.readUIntBE(offset, 6);
}

/** Closes a block: the checksum covers all entries in it. */
export function sealBlock(block: Buffer): void {
  block.writeUInt32LE(crc32(block.subarray(blockStart)), 0);
}

export function isBlockWhole(block: Buffer): boolean {
  return block.length === blockBytes && block.readUInt32LE(0) === crc32(block.subarray(blockStart));
}

export function encodeHead({ name, count, until, filterBytes, tail }: SealedHead): Buffer {
  const head = Buffer.alloc(blockBytes);
  encodeLine(JSON.stringify({ format: "maxclaw-seen", v: version, name, count, until, filterBytes, tail })).copy(head);
  return head;
}

/** Undefined when the head is damaged or of a newer version. */
export function decodeHead(bytes: Buffer): SealedHead | undefined {
  const value = decodeLine(bytes.subarray(0, bytes.indexOf(0x0a) + 1));
  if (typeof value !== "object" || value === null) return undefined;
  const { format, v, name, count, until, filterBytes, tail } = { ...value } as Readonly<Record<string, unknown>>;
  if (format !== "maxclaw-seen" || v !== version || typeof name !== "string") return undefined;
  if (typeof count !== "number" || typeof until !== "number") return undefined;
  if (typeof filterBytes !== "number" || typeof tail !== "number") return undefined;
  return { name, count, until, filterBytes, tail };
}
