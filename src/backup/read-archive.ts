import { type FileHandle, open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { EngineError, messageOf } from "../errors.js";
import { withoutSlashes } from "../util/text/trim-where.js";
import { blockBytes, decodeHeader, parsePax, type RawHeader, type TarEntry } from "./tar.js";

const mostPaxBytes = 1024 * 1024;

/** What an archive may unpack to. */
export interface ArchiveLimits {
  readonly entries: number;
  /** Below this nothing else is asked. */
  readonly bytes: number;
  /** Above that: how much larger than the archive. Text packs to a tenth, and nothing but a trap to a thousandth. */
  readonly ratio: number;
}

const defaultLimits: ArchiveLimits = { entries: 500_000, bytes: 1024 ** 3, ratio: 200 };

/** Called with each entry in turn; must read a file's content to its end. */
export type OnEntry = (entry: TarEntry, content: AsyncIterable<Buffer>) => Promise<void>;

/**
 * Reads an archive from its beginning to its end, without keeping it in memory.
 *
 * @throws {EngineError} `corrupt` when it is cut off, damaged, or no archive of ours
 */
export async function readArchive(
  file: string,
  onEntry: OnEntry,
  signal: AbortSignal,
  limits: ArchiveLimits = defaultLimits,
): Promise<void> {
  const handle = await openToRead(file);
  try {
    const packed = (await handle.stat()).size;
    const most = Math.max(limits.bytes, packed * limits.ratio);
    let entries = 0;
    const count = (): void => {
      entries += 1;
      if (entries > limits.entries) throw new ArchiveFault(`it holds more than ${limits.entries} files`);
    };
    await pipeline(
      handle.createReadStream(),
      createGunzip(),
      async (chunks: AsyncIterable<Buffer>) => {
        const bytes = new ByteReader(chunks, most);
        for (let entry = await nextEntry(bytes); entry !== undefined; entry = await nextEntry(bytes)) {
          count();
          const content = bytes.take(entry.bytes);
          await onEntry(entry, content);
          for await (const _rest of content);
          await bytes.skip((blockBytes - (entry.bytes % blockBytes)) % blockBytes);
        }
        await bytes.drain();
      },
      { signal },
    );
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw isOfArchive(error) ? broken(file, error) : error;
  }
}

async function openToRead(file: string): Promise<FileHandle> {
  try {
    return await open(file, "r");
  } catch (error) {
    throw new EngineError(`${file} cannot be read: ${messageOf(error)}. Nothing was changed.`, {
      kind: "persistence",
      cause: error,
      retryable: false,
    });
  }
}

/** What is wrong with the bytes themselves; all else is the caller's, or the file's. */
class ArchiveFault extends Error {}

function isOfArchive(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return error instanceof ArchiveFault || code.startsWith("Z_");
}

/** What a person is told of an archive that cannot be used. */
export function broken(file: string, cause: unknown): EngineError {
  return new EngineError(
    `${file} is cut off or damaged, or is not a backup of maxclaw (${messageOf(cause)}). Nothing was changed.`,
    { kind: "corrupt", cause },
  );
}

/** The next file, folder or link; undefined at the end. */
async function nextEntry(bytes: ByteReader): Promise<TarEntry | undefined> {
  let pax: ReadonlyMap<string, string> = new Map();
  for (;;) {
    const raw = orFault(decodeHeader, await bytes.exactly(blockBytes));
    if (raw === undefined) return undefined;
    if (raw.flag !== "x") return toEntry(raw, pax);
    if (raw.bytes > mostPaxBytes) throw new ArchiveFault("a header is too long");
    const body = await bytes.exactly(raw.bytes);
    await bytes.skip((blockBytes - (raw.bytes % blockBytes)) % blockBytes);
    pax = orFault(parsePax, body);
  }
}

function orFault<T>(parse: (bytes: Buffer) => T, bytes: Buffer): T {
  try {
    return parse(bytes);
  } catch (error) {
    throw new ArchiveFault(messageOf(error));
  }
}

function toEntry(raw: RawHeader, pax: ReadonlyMap<string, string>): TarEntry {
  const types = { "0": "file", "5": "folder", "2": "link" } as const;
  const type = raw.flag === "0" || raw.flag === "5" || raw.flag === "2" ? types[raw.flag] : undefined;
  const bytes = Number(pax.get("size") ?? raw.bytes);
  if (type === undefined || !Number.isSafeInteger(bytes) || bytes < 0)
    throw new ArchiveFault("it holds something that a backup does not");
  return {
    path: withoutSlashes(pax.get("path") ?? raw.path),
    type,
    bytes: type === "file" ? bytes : 0,
    mode: raw.mode,
    modifiedAt: raw.modifiedAt,
    target: type === "link" ? (pax.get("linkpath") ?? raw.target) : undefined,
  };
}

/** Bytes by count from chunks of any size. */
class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #most: number;
  #chunk: Buffer = Buffer.alloc(0);
  #total = 0;

  constructor(chunks: AsyncIterable<Buffer>, most: number) {
    this.#most = most;
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  async exactly(count: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for await (const piece of this.take(count)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  async skip(count: number): Promise<void> {
    for await (const _piece of this.take(count));
  }

  async *take(count: number): AsyncGenerator<Buffer> {
    for (let left = count; left > 0; ) {
      if (this.#chunk.length === 0 && !(await this.#fill())) throw new ArchiveFault("it ends too early");
      const piece = this.#chunk.subarray(0, left);
      this.#chunk = this.#chunk.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }

  /** To the end, so that a stream that is cut off there is noticed too. */
  async drain(): Promise<void> {
    while (await this.#fill());
  }

  async #fill(): Promise<boolean> {
    const { done, value } = await this.#chunks.next();
    this.#chunk = done === true ? Buffer.alloc(0) : value;
    this.#total += this.#chunk.length;
    if (this.#total > this.#most)
      throw new ArchiveFault(`it unpacks to more than ${Math.round(this.#most / 1024 ** 2)} MB`);
    return done !== true;
  }
}
