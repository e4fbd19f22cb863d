import { comparePlaces, Line, lf, type Place } from "./line.js";
import type { Reading, SearchFile } from "./search-file.js";

/** What a line must have. */
export interface Wanted {
  /** Folded; at least one. */
  readonly needles: readonly string[];
  /** The key begins so, as it is in the file; `rest` follows it. */
  readonly key?: { readonly encoded: Buffer; readonly rest: string } | undefined;
  /** Only what comes after it, in the order of results. */
  readonly after?: Place | undefined;
}

/** A line that has all that is wanted. */
interface Match {
  readonly at: number;
  readonly offset: number;
}

/** The newest texts with all needles. */
export async function findPlaces(file: SearchFile, wanted: Wanted, count: number): Promise<readonly Place[]> {
  return await file.read(async (reading) => {
    const matches: Match[] = [];
    for await (const { bytes, offset } of reading.pieces()) findIn(bytes, offset, wanted, matches);
    return await newestOf(reading, matches, wanted.after, count);
  });
}

/** Only of the newest more than the time is read. */
async function newestOf(
  reading: Reading,
  matches: Match[],
  after: Place | undefined,
  count: number,
): Promise<readonly Place[]> {
  const places: Place[] = [];
  let at: number | undefined;
  for (const match of matches.sort((a, b) => b.at - a.at)) {
    // Those of one moment are put in order among themselves.
    if (places.length >= count && match.at !== at) break;
    at = match.at;
    const place = placeIn(await reading.headAt(match.offset));
    if (place !== undefined && (after === undefined || comparePlaces(after, place) < 0)) places.push(place);
  }
  return places.sort(comparePlaces).slice(0, count);
}

function placeIn(head: Buffer): Place | undefined {
  const end = head.indexOf(lf);
  const line = new Line().stand(head, 0, end === -1 ? head.length : end);
  return line.type === "text" ? line.place() : undefined;
}

/** The longest needle leads: it is the rarest, most likely. */
function findIn(bytes: Buffer, offset: number, { needles, key, after }: Wanted, matches: Match[]): void {
  const [first, ...others] = needles.map((needle) => Buffer.from(needle)).sort((a, b) => b.length - a.length);
  if (first === undefined) return;
  const latest = after?.at ?? Number.POSITIVE_INFINITY;
  const line = new Line();
  for (let from = 0; ; ) {
    const found = bytes.indexOf(first, from);
    if (found === -1) return;
    const { start, end } = lineAround(bytes, from, found);
    line.stand(bytes, start, end);
    from = end + 1;
    const { at } = line;
    if (line.type !== "text" || at > latest) continue;
    if (key !== undefined && !line.hasKey(key.encoded, key.rest)) continue;
    if (found < line.textStart || others.length > 0) {
      const text = bytes.subarray(line.textStart, end);
      if (found < line.textStart && !text.includes(first)) continue;
      if (!others.every((other) => text.includes(other))) continue;
    }
    matches.push({ at, offset: offset + start });
  }
}

/** `from` is the beginning of a line, and often of the very one. */
function lineAround(bytes: Buffer, from: number, found: number): { readonly start: number; readonly end: number } {
  const next = bytes.indexOf(lf, from);
  if (next > found) return { start: from, end: next };
  return { start: bytes.lastIndexOf(lf, found) + 1, end: bytes.indexOf(lf, found) };
}
