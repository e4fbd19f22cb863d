import { createHash, type Hash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { type FileHandle, lstat, open, rename, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { EngineError, messageOf } from "../errors.js";
import { openReal, readOnly } from "../util/files/real-path.js";
import { archiveRoot, backupVersion, type Manifest, manifestPath } from "./manifest.js";
import {
  type BackupPlan,
  isAfterMoment,
  isMissing,
  listOtherSources,
  listStateSources,
  type Source,
} from "./sources.js";
import { encodeHeader, endOfArchive, padding } from "./tar.js";

export interface CreateOptions {
  /** The archive; must not exist. */
  readonly file: string;
  /** Where it is until it is complete. */
  readonly unfinished: string;
  readonly about: Pick<Manifest, "maxclaw" | "createdAt" | "home" | "workspace" | "workspaceInHome" | "placeholders">;
  /** The gateway's files need not be still any longer. */
  readonly onStateDone: () => void;
  readonly signal: AbortSignal;
}

const pieceBytes = 256 * 1024;

/**
 * Writes an archive (tar, gzip) with everything of the plan and a manifest of checksums at its end. It has its name only
 * once it is complete and on the disk.
 *
 * @throws {EngineError} `persistence` when something that is needed cannot be read, or the archive not be written
 */
export async function createBackup(plan: BackupPlan, options: CreateOptions): Promise<Manifest> {
  const { file, unfinished, signal } = options;
  const manifest: Manifest = {
    format: "maxclaw-backup",
    version: backupVersion,
    ...options.about,
    isLive: plan.held !== undefined,
    hasSecrets: plan.hasSecrets,
    files: [],
    others: [],
    leftOut: [],
  };
  try {
    const target = createWriteStream(unfinished, { flags: "wx", mode: 0o600 });
    await pipeline(archive(plan, manifest, options), createGzip(), target, { signal });
    await syncFile(unfinished);
    await rename(unfinished, file);
    return manifest;
  } catch (error) {
    await rm(unfinished, { force: true });
    if (signal.aborted) throw signal.reason;
    if (error instanceof EngineError) throw error;
    throw new EngineError(`The backup ${file} could not be written: ${messageOf(error)}`, {
      kind: "persistence",
      cause: error,
    });
  }
}

async function* archive(plan: BackupPlan, manifest: Manifest, options: CreateOptions): AsyncGenerator<Buffer> {
  const leaveOut = (path: string, why: string): void => {
    manifest.leftOut.push({ path, why });
  };
  yield header({ path: archiveRoot, type: "folder" });
  for await (const source of listStateSources(plan, leaveOut)) yield* pack(source, plan, manifest);
  options.onStateDone();
  for await (const source of listOtherSources(plan, leaveOut)) yield* pack(source, plan, manifest);
  const content = Buffer.from(JSON.stringify(manifest));
  yield header({ path: manifestPath, type: "file", bytes: content.length });
  yield content;
  yield padding(content.length);
  yield endOfArchive();
}

async function* pack(source: Source, plan: BackupPlan, manifest: Manifest): AsyncGenerator<Buffer> {
  const path = `${archiveRoot}/${source.path}`;
  const { type, target } = source;
  if (type !== "file") manifest.others?.push({ path: source.path, type, ...(target === undefined ? {} : { target }) });
  if (type === "link") yield header({ path, type: "link", target });
  if (type === "folder") {
    const stats = await lstat(source.from);
    yield header({ path, type: "folder", mode: stats.mode, modifiedAt: stats.mtimeMs });
  }
  if (source.type !== "file") return;
  if (source.content !== undefined) {
    yield header({ path, type: "file", bytes: source.content.length });
    yield* addToManifest(source.path, source.content.length, single(source.content), manifest);
    return;
  }
  let handle: FileHandle;
  try {
    handle = source.isFound === true ? await openReal(source.from) : await open(source.from, readOnly);
  } catch (error) {
    if (source.isNeeded === true && !isMissing(error)) throw error;
    if (!isMissing(error)) manifest.leftOut.push({ path: source.path, why: messageOf(error) });
    return;
  }
  try {
    const stats = await handle.stat();
    if (isAfterMoment(source, stats.mtimeMs, plan)) return;
    const bytes = source.bytes ?? stats.size;
    yield header({ path, type: "file", bytes, mode: stats.mode, modifiedAt: stats.mtimeMs });
    yield* addToManifest(source.path, bytes, contentOf(handle, bytes), manifest);
  } finally {
    await handle.close();
  }
}

function header(entry: {
  readonly path: string;
  readonly type: "file" | "folder" | "link";
  readonly bytes?: number;
  readonly mode?: number;
  readonly modifiedAt?: number;
  readonly target?: string | undefined;
}): Buffer {
  const mode = entry.mode ?? (entry.type === "file" ? 0o600 : 0o700);
  return encodeHeader({ bytes: 0, modifiedAt: Date.now(), ...entry, mode: mode & 0o777 });
}

/** The content with its padding; its checksum goes into the manifest. */
async function* addToManifest(
  path: string,
  bytes: number,
  content: AsyncIterable<Buffer>,
  manifest: Manifest,
): AsyncGenerator<Buffer> {
  const hash: Hash = createHash("sha256");
  for await (const piece of content) {
    hash.update(piece);
    yield piece;
  }
  yield padding(bytes);
  manifest.files.push({ path, bytes, sha256: hash.digest("hex") });
}

async function* single(content: Buffer): AsyncGenerator<Buffer> {
  yield content;
}

/** Exactly so many bytes: what a file lacks by now, because somebody has cut it, is zeros. */
async function* contentOf(handle: FileHandle, bytes: number): AsyncGenerator<Buffer> {
  for (let position = 0; position < bytes; ) {
    const piece = Buffer.alloc(Math.min(pieceBytes, bytes - position));
    const { bytesRead } = await handle.read(piece, 0, piece.length, position);
    yield bytesRead === 0 ? piece : piece.subarray(0, bytesRead);
    position += bytesRead === 0 ? piece.length : bytesRead;
  }
}

async function syncFile(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
