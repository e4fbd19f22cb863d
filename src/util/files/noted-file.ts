import type { FileHandle } from "node:fs/promises";
import path from "node:path";
import { ChannelError } from "../../errors.js";
import { codeOf } from "../error-code.js";
import { openReal, PathChangedError, resolveReal, type WayOptions } from "./real-path.js";

const sessions = `${path.sep}.sessions${path.sep}`;

/** Where commands make files, and second names of them: not among those that the gateway keeps. */
export function mayHaveTwin(full: string): boolean {
  return full.includes(sessions) && !full.includes(`${sessions}.kept${path.sep}`);
}

/**
 * Opens a file by the path that was written down when the gateway kept or judged it. Below the folder of sessions, where
 * commands move things about, only the file that truly is at this path is opened, and none with a second name; what
 * leads to that folder may be a link. Pipes and devices are not opened at all.
 *
 * @throws {PathChangedError} {LinkedFileError} errors of the file system
 */
export async function openNoted(noted: string, options: WayOptions = {}): Promise<FileHandle> {
  const full = path.resolve(noted);
  const at = full.indexOf(sessions);
  const root = at === -1 ? full : full.slice(0, at + sessions.length - 1);
  const resolution = await resolveReal(root, options);
  if (!resolution.ok) throw new PathChangedError(full);
  return await openReal(path.join(resolution.path, full.slice(root.length)), { ...options, alone: mayHaveTwin(full) });
}

/** The bytes of such a file. @throws as `openNoted`; `EFBIG` when it is larger */
export async function readNoted(noted: string, maxBytes: number, options: WayOptions = {}): Promise<Buffer> {
  await using handle = await openNoted(noted, options);
  return await readWhole(handle, maxBytes, noted);
}

/** More than any channel takes. */
const maxSentBytes = 100 * 1024 * 1024;

/** The bytes of a message's file for a platform. @throws {ChannelError} when it is not what the gateway has kept */
export async function readToSend(file: { readonly path: string; readonly filename: string }): Promise<Buffer> {
  return await readNoted(file.path, maxSentBytes).catch((error: unknown) => {
    const isGone = codeOf(error) === "ENOENT";
    const why = isGone ? "is gone, so it cannot be sent" : "is not the file that was kept, so it is not sent";
    throw new ChannelError(`The file ${file.filename} ${why}.`, { cause: error });
  });
}

/** Files that grow meanwhile, or claim to be empty as those in /proc do, are bounded by what is read. @throws `EFBIG` */
export async function readWhole(handle: FileHandle, maxBytes: number, name: string): Promise<Buffer> {
  const { size } = await handle.stat();
  const chunks: Buffer[] = [];
  let total = 0;
  while (Math.max(size, total) <= maxBytes) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(Math.max(4096, size - total + 1)), 0, null, total);
    if (bytesRead === 0) return Buffer.concat(chunks);
    chunks.push(buffer.subarray(0, bytesRead));
    total += bytesRead;
  }
  throw Object.assign(new Error(`${name} is larger than ${maxBytes} bytes`), { code: "EFBIG" });
}
