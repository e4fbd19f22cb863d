import { type FileHandle, open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { Extract } from "tar-stream";
import { EngineError, messageOf } from "../errors.js";
import { notPlain } from "../util/error-code.js";
import { readOnly } from "../util/files/real-path.js";
import { reasonOf } from "../util/files/system-fault.js";
import { type TarEntry, toEntry } from "./tar.js";

const blockBytes = 512;

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
  const { extract } = await import("tar-stream");
  const unpack = extract();
  const fault: { error?: unknown } = {};
  unpack.on("error", (error) => {
    fault.error = error;
  });
  try {
    const packed = (await handle.stat()).size;
    const most = Math.max(limits.bytes, packed * limits.ratio);
    await pipeline(
      handle.createReadStream(),
      createGunzip(),
      async (chunks: AsyncIterable<Buffer>) => {
        const feeding = feed(chunks, unpack, most);
        try {
          await eachEntry(unpack, onEntry, limits);
        } finally {
          await feeding;
        }
      },
      { signal },
    );
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw isOfArchive(error, fault.error) ? broken(file, error) : error;
  }
}

async function eachEntry(unpack: Extract, onEntry: OnEntry, limits: ArchiveLimits): Promise<void> {
  let entries = 0;
  for await (const source of unpack) {
    entries += 1;
    if (entries > limits.entries) throw new ArchiveFault(`it holds more than ${limits.entries} files`);
    const entry = toEntry(source.header);
    if (entry === undefined) throw new ArchiveFault("it holds something that a backup does not");
    // Parts of the buffers that it is fed with.
    await onEntry(entry, source as AsyncIterable<Buffer>);
    source.resume();
  }
}

/** A pipe that nobody writes to holds nobody up. */
async function openToRead(file: string): Promise<FileHandle> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(file, readOnly);
    const found = await handle.stat();
    if (!found.isFile()) throw notPlain(file, found);
    return handle;
  } catch (error) {
    await handle?.close();
    throw new EngineError(`${file} cannot be read: ${reasonOf(error)}. Nothing was changed.`, {
      kind: "persistence",
      cause: error,
      retryable: false,
    });
  }
}

/** What is wrong with the bytes themselves; all else is the caller's, or the file's. */
class ArchiveFault extends Error {}

/** `fault`: what the library has thrown, which gives its own errors no code. */
function isOfArchive(error: unknown, fault: unknown): boolean {
  if (error instanceof ArchiveFault) return true;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return code === "" ? error === fault : code.startsWith("Z_");
}

/** What a person is told about an archive that cannot be used. */
export function broken(file: string, cause: unknown): EngineError {
  return new EngineError(
    `${file} is cut off or damaged, or is not a backup of maxclaw (${messageOf(cause)}). Nothing was changed.`,
    { kind: "corrupt", cause },
  );
}

/** Never rejects: what is wrong with the bytes is thrown to the one who reads the entries. */
async function feed(chunks: AsyncIterable<Buffer>, unpack: Extract, most: number): Promise<void> {
  let total = 0;
  // An archive ends in blocks of zeros: without them it was cut off between two entries.
  let end: Buffer = Buffer.alloc(0);
  let wake = (): void => {};
  unpack.on("drain", () => wake()).on("close", () => wake());
  try {
    // Not by a loop, which would end the stream, and with it all of this, before the reason is known.
    const iterator = chunks[Symbol.asyncIterator]();
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      if (unpack.destroying) return;
      const chunk = next.value;
      total += chunk.length;
      if (total > most) throw new ArchiveFault(`it unpacks to more than ${Math.round(most / 1024 ** 2)} MB`);
      end = chunk.length >= blockBytes ? chunk : Buffer.concat([end.subarray(-blockBytes), chunk]);
      if (unpack.write(chunk)) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    if (end.subarray(-blockBytes).some((byte) => byte !== 0)) throw new ArchiveFault("it ends too early");
    unpack.end(null);
  } catch (error) {
    unpack.destroy(error instanceof Error ? error : new Error(messageOf(error)));
  }
}
