import { lstat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { messageOf, RequestError } from "../../errors.js";
import type { Logger } from "../../log.js";
import { artifactFiles } from "../../policy/locations/zones.js";
import { codeOf } from "../../util/error-code.js";
import { mimeTypeOf } from "../../util/files/content-types.js";
import { plainName } from "../../util/files/file-name.js";
import { HeldFolder } from "../../util/files/held-folder.js";
import { mayHaveTwin } from "../../util/files/noted-file.js";
import type { OpenedFile } from "../../util/files/opened-file.js";
import { LinkedFileError, openReal, PathChangedError, resolveReal } from "../../util/files/real-path.js";
import { writeReal } from "../../util/files/write-real.js";
import type { WhyFull } from "../folder-usage.js";

interface Kept {
  readonly path: string;
  readonly sizeBytes: number;
}

/** What a platform's people are sent at once has a limit everywhere; this is Telegram's. */
const maxMegabytes = 50;

/** Where the files are that a session's people were given. */
export interface Artifacts {
  /** What the file is called for people, and of which kind it is. */
  describe(path: string, filename: string | undefined): { readonly filename: string; readonly mimeType: string };
  /** Resolves once the copy is whole; one that is there already stays. `sentence`: why there is none, for the model. */
  keep(
    sessionKey: string,
    artifactId: string,
    file: { readonly path: string; readonly filename: string },
  ): Promise<Kept | { readonly sentence: string }>;
  /** @throws {RequestError} 404 when this session has no such file */
  open(sessionKey: string, artifactId: string): Promise<OpenedFile>;
}

/** Copies of files for people: `artifacts/<id>/<name>` in what is kept of the session, which goes with the session. */
export function createArtifacts(options: {
  /** What the gateway keeps of a session; may not exist. */
  readonly keptOf: (sessionKey: string) => string;
  /** The session's own folder, where they were before. */
  readonly folderOf: (sessionKey: string) => string;
  /** Why nothing more may be kept for the session with this folder. */
  readonly whyFull?: WhyFull | undefined;
  readonly log: Logger;
  readonly maxBytes?: number;
}): Artifacts {
  const { keptOf, folderOf, whyFull, log, maxBytes = maxMegabytes * 1024 * 1024 } = options;
  return {
    describe(path, wanted) {
      const filename = plainName(wanted ?? path);
      return { filename, mimeType: mimeTypeOf(filename) };
    },

    async keep(sessionKey, artifactId, { path, filename }) {
      try {
        const kept = await resolveReal(keptOf(sessionKey));
        if (!kept.ok) throw new PathChangedError(keptOf(sessionKey));
        const target = join(kept.path, artifactFiles, artifactId, filename);
        const known = await lstat(target).catch(() => undefined);
        if (known?.isFile() === true) return { path: target, sizeBytes: known.size };
        const full = await whyFull?.(folderOf(sessionKey));
        if (full !== undefined) return { sentence: `This chat's folder ${full}.` };
        return await copy(path, target, maxBytes);
      } catch (error) {
        const code = codeOf(error);
        if (code === "ENOENT") return { sentence: `${filename} does not exist.` };
        if (code === "ENOSPC" || code === "EDQUOT") return { sentence: "The disk is full." };
        if (code === "ENXIO" || code === "EISDIR") return { sentence: `${filename} is not a regular file.` };
        if (error instanceof LinkedFileError)
          return { sentence: `${filename} has a second name (a hard link) that may be elsewhere. Copy it first.` };
        if (error instanceof PathChangedError) return { sentence: `${filename} changed while it was being read.` };
        log.warn(`A file could not be kept for its people: ${messageOf(error)}`, { session: sessionKey, error });
        return { sentence: `${filename} could not be copied.` };
      }
    },

    async open(sessionKey, artifactId) {
      const found = /^art_[0-9a-f]{20}$/.test(artifactId)
        ? await openFirst([keptOf(sessionKey), folderOf(sessionKey)], artifactId)
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

async function copy(path: string, target: string, maxBytes: number): Promise<Kept | { readonly sentence: string }> {
  await using source = await openReal(path, { alone: mayHaveTwin(path) });
  const { size } = await source.stat();
  if (size > maxBytes)
    return { sentence: `${basename(target)} is larger than ${Math.floor(maxBytes / 1024 / 1024)} MB.` };
  // A file that grows meanwhile is as long as it was.
  const bytes = size === 0 ? "" : source.createReadStream({ autoClose: false, start: 0, end: size - 1 });
  return { path: target, sizeBytes: await writeReal(target, bytes, { mode: 0o600, folderMode: 0o700 }) };
}

/** Those of before lie in the session's own folder, where commands can make something else of them. */
async function openFirst(folders: readonly string[], artifactId: string): Promise<OpenedFile | undefined> {
  for (const folder of folders) {
    const found = await openKept(folder, artifactId).catch(() => undefined);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function openKept(folder: string, artifactId: string): Promise<OpenedFile | undefined> {
  const root = await resolveReal(dirname(folder));
  if (!root.ok) return undefined;
  await using held = await HeldFolder.open(join(root.path, basename(folder), artifactFiles, artifactId));
  const [filename] = (await held.entries()).map(({ name }) => name).filter((name) => !/\.(part|tmp)$/.test(name));
  if (filename === undefined) return undefined;
  const path = join(held.path, filename);
  const handle = await openReal(path, { alone: mayHaveTwin(path) });
  const { size } = await handle.stat();
  return { filename, mimeType: mimeTypeOf(filename), sizeBytes: size, handle };
}
