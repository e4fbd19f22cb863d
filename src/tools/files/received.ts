import { lstat } from "node:fs/promises";
import path from "node:path";
import { isInside, resolveFolderSync } from "../../policy/locations/paths.js";
import { keptFolderOf, receivedFiles } from "../../policy/locations/zones.js";
import { plainName, shownName } from "../../util/files/file-name.js";
import { HeldFolder } from "../../util/files/held-folder.js";
import { resolveReal } from "../../util/files/real-path.js";
import type { ToolContext } from "../tool.js";

/** A file that came with a message of this chat. */
export interface ReceivedFile {
  /** Absolute, every link followed. */
  readonly path: string;
  /** As tools and commands of this chat name it. */
  readonly name: string;
  /** As the person named it. */
  readonly shown: string;
  /** Unix ms. */
  readonly at: number;
}

type Reader = Pick<ToolContext, "folder" | "permissions">;

/** All that policy lets this chat read, the latest first. */
export async function receivedFilesOf({ folder, permissions }: Reader): Promise<readonly ReceivedFile[]> {
  const received = await resolveReal(path.join(keptFolderOf(folder), receivedFiles));
  if (!received.ok || !received.exists) return [];
  await using held = await HeldFolder.open(received.path);
  const files: ReceivedFile[] = [];
  for (const entry of await held.entries()) {
    const full = path.join(held.path, entry.name);
    const shown = shownName(full);
    if (!entry.isFile() || shown === entry.name || !permissions.allows({ kind: "read", path: full })) continue;
    const { mtimeMs } = await lstat(held.at(entry.name));
    files.push({ path: full, name: `${receivedFiles}/${entry.name}`, shown, at: mtimeMs });
  }
  return files.sort((a, b) => b.at - a.at || (a.name < b.name ? -1 : 1));
}

/** `target` is absolute and resolved. */
export function isReceived(target: string, { folder }: Pick<ToolContext, "folder">): boolean {
  return isInside(path.join(keptFolderOf(resolveFolderSync(folder)), receivedFiles), target);
}

/** Those that a person gave this name, the latest first. A path that leads anywhere names none. */
export async function receivedAs(name: string, reader: Reader): Promise<readonly ReceivedFile[]> {
  const last = path.basename(name);
  if (last === "" || (last !== name && path.dirname(name) !== receivedFiles)) return [];
  const wanted = sameName(last);
  return (await receivedFilesOf(reader)).filter(({ shown }) => sameName(shown) === wanted);
}

/** Systems write one letter in several ways. */
function sameName(name: string): string {
  return plainName(name).normalize("NFC");
}

/** For the model: which file it got, and that there were others. */
export function receivedNote([file, ...others]: readonly ReceivedFile[]): string {
  const which = others.length === 0 ? "" : `, the latest of ${others.length + 1} with that name`;
  return `[sent in this chat: ${file?.name ?? ""}${which}]`;
}
