import { randomBytes } from "node:crypto";
import { createWriteStream } from "node:fs";
import { type FileHandle, lstat, mkdir, readdir, realpath, rename, rm } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { ArtifactKeeper } from "../agent/ports.js";
import type { ArtifactContent } from "../api/gateway-api.js";
import { messageOf, RequestError } from "../errors.js";
import { contentTypeOf } from "../http/content-types.js";
import type { Logger } from "../log.js";
import { openReal, PathChangedError } from "../policy/paths.js";
import { plainName } from "../util/file-name.js";

/** What a platform's people are sent at once has a limit everywhere; this is Telegram's. */
const maxMegabytes = 50;

export interface Artifacts extends ArtifactKeeper {
  /** @throws {RequestError} 404 when this session has no such file */
  open(sessionKey: string, artifactId: string): Promise<ArtifactContent>;
}

/** Copies of files for people: `artifacts/<id>/<name>` in the session's folder, which goes with the session. */
export function createArtifacts(options: {
  readonly folderOf: (sessionKey: string) => string;
  readonly log: Logger;
  readonly maxBytes?: number;
}): Artifacts {
  const { folderOf, log, maxBytes = maxMegabytes * 1024 * 1024 } = options;
  return {
    describe(path, wanted) {
      const filename = plainName(wanted ?? path);
      const [mimeType = ""] = contentTypeOf(extname(filename)).split(";");
      return { filename, mimeType };
    },

    async keep(sessionKey, artifactId, { path, filename }) {
      try {
        const folder = await ownFolder(folderOf(sessionKey), artifactId);
        const target = join(folder, filename);
        const known = await lstat(target).catch(() => undefined);
        if (known?.isFile() === true) return { path: target, sizeBytes: known.size };
        return await copy(path, target, maxBytes);
      } catch (error) {
        const code = error instanceof Error && "code" in error ? error.code : undefined;
        if (code === "ENOENT") return { sentence: `${filename} does not exist.` };
        if (code === "ENOSPC" || code === "EDQUOT") return { sentence: "The disk is full." };
        if (error instanceof PathChangedError) return { sentence: `${filename} changed while it was being read.` };
        log.warn(`A file could not be kept for its people: ${messageOf(error)}`, { session: sessionKey, error });
        return { sentence: `${filename} could not be copied.` };
      }
    },

    async open(sessionKey, artifactId) {
      const found = /^art_[0-9a-f]{20}$/.test(artifactId)
        ? await openKept(folderOf(sessionKey), artifactId).catch(() => undefined)
        : undefined;
      if (found === undefined)
        throw new RequestError(`There is no file ${artifactId.slice(0, 80)} in ${sessionKey}.`, {
          status: 404,
          code: "not_found",
        });
      return found;
    },
  };
}

/** @throws {PathChangedError} when something in the session's folder leads elsewhere: tools write there */
async function ownFolder(sessionFolder: string, artifactId: string): Promise<string> {
  await mkdir(sessionFolder, { recursive: true });
  const folder = join(await realpath(sessionFolder), "artifacts", artifactId);
  await mkdir(folder, { recursive: true });
  if ((await realpath(folder)) !== folder) throw new PathChangedError(folder);
  return folder;
}

async function copy(
  path: string,
  target: string,
  maxBytes: number,
): Promise<{ readonly path: string; readonly sizeBytes: number } | { readonly sentence: string }> {
  await using source = await openReal(path);
  const { size } = await source.stat();
  const name = basename(target);
  if (!(await source.stat()).isFile()) return { sentence: `${name} is not a regular file.` };
  const tooLarge = { sentence: `${name} is larger than ${Math.floor(maxBytes / 1024 / 1024)} MB.` };
  if (size > maxBytes) return tooLarge;
  const half = `${target}.${randomBytes(4).toString("hex")}.part`;
  try {
    // A file that grows meanwhile is as long as it was.
    const bytes = source.createReadStream({ autoClose: false, start: 0, end: Math.max(0, size - 1) });
    const out = createWriteStream(half, { flags: "wx", flush: true });
    await pipeline(size === 0 ? [] : bytes, out);
    await rename(half, target);
    return { path: target, sizeBytes: out.bytesWritten };
  } finally {
    await rm(half, { force: true });
  }
}

async function openKept(sessionFolder: string, artifactId: string): Promise<ArtifactContent | undefined> {
  const folder = join(await realpath(sessionFolder), "artifacts", artifactId);
  const [filename] = (await readdir(folder)).filter((name) => !name.endsWith(".part"));
  if (filename === undefined) return undefined;
  const handle: FileHandle = await openReal(join(folder, filename));
  const stats = await handle.stat();
  if (!stats.isFile()) {
    await handle.close();
    return undefined;
  }
  const [mimeType = ""] = contentTypeOf(extname(filename)).split(";");
  return { filename, mimeType, sizeBytes: stats.size, handle };
}
