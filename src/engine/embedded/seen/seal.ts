import { hashOf } from "../../seen-hash.js";
import { prefixOf, type SealedInfo } from "./format.js";
import { SealedWriter } from "./sealed-writer.js";
import { Slices } from "./slices.js";

/** The hash of an id, and when it was remembered, in Unix seconds. */
export interface SealEntry {
  readonly hash: Buffer;
  readonly seconds: number;
}

/** Writes these ids into a file of their own, in small steps so that others go on. */
export async function sealIds(
  folder: string,
  number: number,
  ids: ReadonlyMap<string, number>,
): Promise<SealedInfo | undefined> {
  const slices = new Slices(new AbortController().signal);
  const entries: SealEntry[] = [];
  for (const [id, at] of [...ids]) {
    entries.push({ hash: hashOf(id), seconds: Math.ceil(at / 1000) });
    if (slices.isOver()) await slices.next();
  }
  return await sealEntries(folder, number, entries);
}

/** The same for ids of which only the hashes are known. */
export async function sealEntries(
  folder: string,
  number: number,
  entries: readonly SealEntry[],
): Promise<SealedInfo | undefined> {
  const slices = new Slices(new AbortController().signal);
  const buckets = Array.from({ length: 256 }, (): SealEntry[] => []);
  for (const entry of entries) {
    buckets[entry.hash[0] ?? 0]?.push(entry);
    if (slices.isOver()) await slices.next();
  }
  const writer = new SealedWriter(folder, number, entries.length);
  try {
    for (const bucket of buckets) {
      bucket.sort((one, other) => prefixOf(one.hash) - prefixOf(other.hash) || one.hash.compare(other.hash));
      for (const [index, { hash, seconds }] of bucket.entries())
        if (index === 0 || bucket[index - 1]?.hash.equals(hash) === false) writer.add(hash, 0, seconds);
      if (slices.isOver()) await slices.next();
    }
  } catch (error) {
    writer.abandon();
    throw error;
  }
  return await writer.finish();
}
