import { createHash } from "node:crypto";
import { type FileHandle, lstat, open, rename, rm } from "node:fs/promises";
import { EngineError } from "../errors.js";
import { isMissing } from "../util/error-code.js";
import { openReal, readOnly } from "../util/files/real-path.js";
import { syncPath } from "../util/files/sync-path.js";
import { reasonOf } from "../util/files/system-fault.js";
import { isBackup } from "./is-backup.js";
import { archiveRoot, backupVersion, type Manifest, manifestPath } from "./manifest.js";
import { type BackupPlan, isAfterMoment, listOtherSources, listStateSources, type Source } from "./sources.js";
import type { TarEntry } from "./tar.js";
import { type Archive, writeArchive } from "./write-archive.js";

export interface CreateOptions {
  /** The archive; must not exist. */
  readonly file: string;
  /** Where it is until it is complete. */
  readonly unfinished: string;
  readonly about: Pick<Manifest, "maxclaw" | "createdAt" | "home" | "workspace" | "workspaceInHome" | "placeholders">;
  /** Parts of the gateway that are in no file. */
  readonly elsewhere: Readonly<Manifest["leftOut"]>;
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
    leftOut: [...options.elsewhere],
  };
  try {
    await writeArchive(unfinished, (tar) => fill(tar, plan, manifest, options), signal);
    await syncPath(unfinished);
    await rename(unfinished, file);
    return manifest;
  } catch (error) {
    await rm(unfinished, { force: true });
    if (signal.aborted) throw signal.reason;
    if (error instanceof EngineError) throw error;
    throw new EngineError(`The backup ${file} could not be written: ${reasonOf(error)}`, {
      kind: "persistence",
      cause: error,
    });
  }
}

async function fill(tar: Archive, plan: BackupPlan, manifest: Manifest, options: CreateOptions): Promise<void> {
  const leaveOut = (path: string, why: string): void => {
    manifest.leftOut.push({ path, why });
  };
  await tar.add(entryOf({ path: archiveRoot, type: "folder" }));
  for await (const source of listStateSources(plan, leaveOut)) await pack(tar, source, plan, manifest);
  options.onStateDone();
  for await (const source of listOtherSources(plan, leaveOut)) await pack(tar, source, plan, manifest);
  const content = Buffer.from(JSON.stringify(manifest));
  await tar.add(entryOf({ path: manifestPath, type: "file", bytes: content.length }), single(content));
}

async function pack(tar: Archive, source: Source, plan: BackupPlan, manifest: Manifest): Promise<void> {
  const path = `${archiveRoot}/${source.path}`;
  const { type, target } = source;
  if (type !== "file") manifest.others?.push({ path: source.path, type, ...(target === undefined ? {} : { target }) });
  if (type === "link") await tar.add(entryOf({ path, type: "link", target }));
  if (type === "folder") {
    const stats = await lstat(source.from);
    await tar.add(entryOf({ path, type: "folder", mode: stats.mode, modifiedAt: stats.mtimeMs }));
  }
  if (source.type !== "file") return;
  const note = (bytes: number, sha256: string): void => void manifest.files.push({ path: source.path, bytes, sha256 });
  if (source.content !== undefined) {
    const bytes = source.content.length;
    await tar.add(
      entryOf({ path, type: "file", bytes }),
      hashed(single(source.content), (sum) => note(bytes, sum)),
    );
    return;
  }
  let handle: FileHandle;
  try {
    handle = source.isFound === true ? await openReal(source.from) : await open(source.from, readOnly);
  } catch (error) {
    if (source.isNeeded === true && !isMissing(error)) throw error;
    if (!isMissing(error)) manifest.leftOut.push({ path: source.path, why: reasonOf(error) });
    return;
  }
  try {
    const stats = await handle.stat();
    if (isAfterMoment(source, stats.mtimeMs, plan)) return;
    if (source.isFound === true && (await isBackup(handle))) {
      manifest.leftOut.push({ path: source.path, why: "it is a backup itself" });
      return;
    }
    const bytes = source.bytes ?? stats.size;
    const entry = entryOf({ path, type: "file", bytes, mode: stats.mode, modifiedAt: stats.mtimeMs });
    await tar.add(
      entry,
      hashed(contentOf(handle, bytes), (sum) => note(bytes, sum)),
    );
  } finally {
    await handle.close();
  }
}

function entryOf(entry: Pick<TarEntry, "path" | "type" | "target"> & Partial<TarEntry>): TarEntry {
  const mode = entry.mode ?? (entry.type === "file" ? 0o600 : 0o700);
  return { bytes: 0, modifiedAt: Date.now(), ...entry, mode: mode & 0o777 };
}

/** The same pieces; their checksum is told at the end. */
async function* hashed(content: AsyncIterable<Buffer>, onEnd: (sha256: string) => void): AsyncGenerator<Buffer> {
  const hash = createHash("sha256");
  for await (const piece of content) {
    hash.update(piece);
    yield piece;
  }
  onEnd(hash.digest("hex"));
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
