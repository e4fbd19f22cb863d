import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Pack } from "tar-stream";
import { messageOf } from "../errors.js";
import { type TarEntry, toHeader } from "./tar.js";

/** An archive while it is written. */
export interface Archive {
  /** Resolves once the entry is on its way to the disk. `content`: exactly as many bytes as the entry says. */
  add(entry: TarEntry, content?: AsyncIterable<Buffer>): Promise<void>;
}

/** Writes a new file (tar, gzip) with what `fill` adds. Rejects with what has stopped it first. */
export async function writeArchive(
  file: string,
  fill: (archive: Archive) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { pack } = await import("tar-stream");
  const tar = pack();
  // Told to the one who reads it.
  tar.on("error", () => undefined);
  const target = createWriteStream(file, { flags: "wx", mode: 0o600 });
  const writing = pipeline(chunksOf(tar), createGzip(), target, { signal });
  const filling = fill({ add: (entry, content) => add(tar, entry, content) }).then(
    () => tar.finalize(),
    (error: unknown) => tar.destroy(error instanceof Error ? error : new Error(messageOf(error))),
  );
  // What cannot be written ends the filling as well: its error is the one to be told.
  await writing.finally(() => filling);
}

async function* chunksOf(tar: Pack): AsyncGenerator<Buffer> {
  // Its own blocks are buffers too.
  yield* tar as AsyncIterable<Buffer>;
}

async function add(tar: Pack, entry: TarEntry, content?: AsyncIterable<Buffer>): Promise<void> {
  const end = createEnd();
  const sink = tar.entry(toHeader(entry), end.settle);
  // The same as `end` gets.
  sink.on("error", () => undefined);
  let wake = (): void => {};
  sink.on("drain", () => wake());
  for await (const piece of content ?? []) {
    if (sink.write(piece)) continue;
    const drained = new Promise<void>((resolve) => {
      wake = resolve;
    });
    // Where nothing is written any more, nothing drains either.
    await Promise.race([drained, end.reached]);
  }
  if (content !== undefined) sink.end(null);
  await end.reached;
}

function createEnd(): { readonly reached: Promise<void>; settle(error?: Error | null): void } {
  let settle: (error?: Error | null) => void = () => {};
  const reached = new Promise<void>((resolve, reject) => {
    settle = (error) => (error ? reject(error) : resolve());
  });
  // Anyone who waits for it is told; while the content is read nobody does.
  reached.catch(() => undefined);
  return { reached, settle };
}
