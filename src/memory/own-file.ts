import { constants } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import path from "node:path";
import { makeFolder } from "../util/files/make-folder.js";

const { O_RDONLY, O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;

const flags = { read: O_RDONLY, append: O_RDWR | O_APPEND | O_CREAT };

/** A file of the memory by the folder that it may not leave, and its path in there. */
export interface OwnFile {
  readonly root: string;
  readonly name: string;
}

/**
 * Opens a regular file that truly lies below its root. A link in its place is not followed, and nothing is waited for:
 * pipes and devices are refused.
 *
 * @throws {Error} with what is wrong about the file, or the system's own
 */
export async function openOwnFile({ root, name }: OwnFile, mode: keyof typeof flags): Promise<FileHandle> {
  const file = path.join(root, name);
  if (mode === "append") await makeFolder(path.dirname(file));
  const [realRoot, folder] = await Promise.all([realpath(root), realpath(path.dirname(file))]);
  if (folder !== realRoot && !folder.startsWith(realRoot + path.sep))
    throw new Error("its folder is a link to another place, where nothing is read or written");
  const target = path.join(folder, path.basename(file));
  const handle = await open(target, flags[mode] | O_NOFOLLOW | O_NONBLOCK, 0o600).catch((error: unknown) => {
    throw isCode(error, "ELOOP", "EMLINK")
      ? new Error("it is a link, which is not followed: put the file there")
      : error;
  });
  try {
    if ((await handle.stat()).isFile()) return handle;
    throw new Error("it is not a regular file");
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The whole text; undefined where there is no such file. */
export async function readOwnFile(file: OwnFile): Promise<string | undefined> {
  try {
    await using handle = await openOwnFile(file, "read");
    return await handle.readFile("utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Adds the text at the end, in one write. The file and its folder are made where they are missing. */
export async function appendOwnFile(file: OwnFile, text: string): Promise<void> {
  await using handle = await openOwnFile(file, "append");
  await handle.appendFile(text);
}

export function isMissing(error: unknown): boolean {
  return isCode(error, "ENOENT");
}

function isCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "string" && codes.includes(error.code);
}
