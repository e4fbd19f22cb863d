import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { codeOf } from "../../util/error-code.js";
import type { BoundFile } from "../access.js";
import { isInside } from "../locations/paths.js";
import { parseWords } from "./shell-words.js";

const mostWords = 200;
const mostFiles = 20;
const largestFile = 4 * 1024 * 1024;
const chunkBytes = 64 * 1024;

/**
 * The files that a command's words name in the chat's own folder or anywhere else in the workspace, where others than the
 * person may have written them, with what they hold now; sorted by path. Undefined when that cannot be known: too many,
 * too large, no regular file, not readable, or it starts in another folder. Waits on no pipe.
 */
export async function filesOfCommand(
  { command, cwd }: { readonly command: string; readonly cwd?: string | undefined },
  folders: { readonly folder: string; readonly workspace: string },
): Promise<readonly BoundFile[] | undefined> {
  const words = namesIn(command);
  if (words === undefined) return undefined;
  // What it names is looked for where it starts.
  if (cwd !== undefined && cwd !== (await realpath(folders.folder).catch(() => undefined))) return undefined;
  const roots = [folders.workspace, await realpath(folders.workspace).catch(() => folders.workspace)];
  const found: BoundFile[] = [];
  for (const file of new Set(words.map((word) => path.resolve(folders.folder, word)))) {
    const hash = await hashOf(file, roots);
    if (hash === "unknown") return undefined;
    if (hash !== undefined) found.push({ path: file, sha256: hash });
    if (found.length > mostFiles) return undefined;
  }
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Every word and part of a word that may be a name, however the command is put together. */
function namesIn(command: string): readonly string[] | undefined {
  const parts = [...(parseWords(command) ?? []), ...command.split(/[\s'"`\\;&|<>(){}=,:@$]+/)];
  const names = new Set(parts.filter((part) => part !== "" && !part.startsWith("-") && !part.includes("\0")));
  return names.size > mostWords ? undefined : [...names];
}

/** Undefined for what is not a file of the workspace. */
async function hashOf(file: string, roots: readonly string[]): Promise<string | "unknown" | undefined> {
  const isOurs = (target: string): boolean => roots.some((root) => isInside(root, target));
  try {
    const found = await stat(file);
    if (found.isDirectory() || !(isOurs(file) || isOurs(await realpath(file)))) return undefined;
    if (!found.isFile() || found.size > largestFile) return "unknown";
    await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    return (await handle.stat()).isFile() ? await digest(handle) : "unknown";
  } catch (error) {
    const code = codeOf(error);
    const isMissing = code === "ENOENT" || code === "ENOTDIR" || code === "ENAMETOOLONG";
    return isMissing || !isOurs(file) ? undefined : "unknown";
  }
}

async function digest(handle: FileHandle): Promise<string> {
  const hash = createHash("sha256");
  const buffer = Buffer.alloc(chunkBytes);
  let length = 0;
  for (;;) {
    const { bytesRead } = await handle.read(buffer, 0, chunkBytes, length);
    if (bytesRead === 0) return hash.digest("hex");
    length += bytesRead;
    if (length > largestFile) return "unknown";
    hash.update(buffer.subarray(0, bytesRead));
  }
}
