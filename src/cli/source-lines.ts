import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Where a line of the program comes from. */
interface SourcePlace {
  readonly source: string;
  readonly line: number;
  readonly column: number;
}

/** The map of a file, as far as it is read here. */
interface SourceMap {
  readonly sources: readonly string[];
  readonly mappings: string;
}

/**
 * Has stack traces name the lines of the source instead of those of the built program. A map is read when a trace of its file is
 * first looked at, and forgotten again: `--enable-source-maps` would read all of them at each start and keep them.
 */
export function showSourceLines(): void {
  // Node does it by itself where it was told to.
  if (/--enable-source-maps/.test([...process.execArgv, process.env.NODE_OPTIONS].join(" "))) return;
  const lines = new SourceLines();
  Error.prepareStackTrace = (error, frames) => lines.trace(error, frames);
}

/** So many places are remembered: errors that come again and again read no map again. */
const maxKnown = 2000;

class SourceLines {
  readonly #known = new Map<string, SourcePlace | undefined>();

  trace(error: Error, frames: readonly NodeJS.CallSite[]): string {
    const spots = frames.map(spotOf);
    try {
      this.#learn(spots.flatMap((spot) => spot ?? []));
    } catch {
      // A trace with the lines of the built program is better than none.
    }
    const lines = frames.map((frame, index) => {
      const spot = spots[index];
      const place = spot && this.#known.get(keyOf(spot));
      if (spot === undefined || place === undefined) return `\n    at ${frame}`;
      const built = `${spot.file}:${spot.line + 1}:${spot.column + 1}`;
      return `\n    at ${String(frame).replace(built, () => `${place.source}:${place.line}:${place.column}`)}`;
    });
    return `${headOf(error)}${lines.join("")}`;
  }

  #learn(spots: readonly Spot[]): void {
    const unknown = spots.filter((spot) => !this.#known.has(keyOf(spot)));
    if (this.#known.size + unknown.length > maxKnown) this.#known.clear();
    for (const file of new Set(unknown.map((spot) => spot.file))) {
      const wanted = unknown.filter((spot) => spot.file === file);
      const places = placesIn(fileURLToPath(file), wanted);
      for (const [index, spot] of wanted.entries()) this.#known.set(keyOf(spot), places[index]);
    }
  }
}

/** Where a frame is in the built program. Line and column count from 0. */
interface Spot {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

const keyOf = ({ file, line, column }: Spot): string => `${file}:${line}:${column}`;

function spotOf(frame: NodeJS.CallSite): Spot | undefined {
  const file = frame.getFileName();
  if (typeof file !== "string" || !file.startsWith("file:")) return undefined;
  return { file, line: (frame.getLineNumber() ?? 1) - 1, column: (frame.getColumnNumber() ?? 1) - 1 };
}

function headOf(error: Error): string {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return "Error";
  }
}

function placesIn(path: string, spots: readonly Spot[]): readonly (SourcePlace | undefined)[] {
  if (!existsSync(`${path}.map`)) return spots.map(() => undefined);
  // Our own build has written it.
  const map = JSON.parse(readFileSync(`${path}.map`, "utf8")) as SourceMap;
  return findPlaces(map, spots).map((place) => place && { ...place, source: join(dirname(path), place.source) });
}

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Reads a map's lines up to the last one that is wanted. Lines and columns count from 0, as in the map. */
export function findPlaces(
  { sources, mappings }: SourceMap,
  wanted: readonly { readonly line: number; readonly column: number }[],
): readonly (SourcePlace | undefined)[] {
  const found: (SourcePlace | undefined)[] = wanted.map(() => undefined);
  const state = [0, 0, 0, 0];
  const last = Math.max(...wanted.map(({ line }) => line));
  for (const [line, text] of mappings.split(";", last + 1).entries()) {
    state[0] = 0;
    const here = wanted.flatMap((one, index) => (one.line === line ? [{ ...one, index }] : []));
    for (const segment of text === "" ? [] : text.split(",")) {
      advance(state, segment);
      const [column = 0, source = 0, sourceLine = 0, sourceColumn = 0] = state;
      const name = sources[source] ?? "";
      const place = { source: name, line: sourceLine + 1, column: sourceColumn + 1 };
      for (const one of here)
        if (column <= one.column) found[one.index] = segment.length > 1 && name !== "" ? place : undefined;
    }
  }
  return found;
}

/** Adds the numbers of one segment, in base 64 with the sign in the lowest bit, to those before. */
function advance(state: number[], segment: string): void {
  let field = 0;
  let value = 0;
  let shift = 0;
  for (const letter of segment) {
    const digit = digits.indexOf(letter);
    value += (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    state[field] = (state[field] ?? 0) + (value & 1 ? -(value >>> 1) : value >>> 1);
    field += 1;
    value = 0;
    shift = 0;
  }
}
