import type { Stats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { openReal } from "../../policy/paths.js";
import { failed, type ToolResult } from "../tool.js";
import { fileFailure } from "./failure.js";
import type { Place } from "./locate.js";
import { decodeText, type FileText } from "./text.js";

const maxBytes = 10 * 1024 * 1024;

export type LoadedText =
  | { readonly ok: true; readonly file: FileText; readonly stats: Stats }
  | { readonly ok: false; readonly result: ToolResult };

/** Reads a text file of at most 10 MB. Folders, pipes, devices and binary files are refused with a sentence. */
export async function loadText(place: Place): Promise<LoadedText> {
  try {
    const handle = await openReal(place.path);
    try {
      return await readText(handle, place.shown);
    } finally {
      await handle.close();
    }
  } catch (error) {
    return { ok: false, result: fileFailure(error, place.shown) };
  }
}

async function readText(handle: FileHandle, shown: string): Promise<LoadedText> {
  const stats = await handle.stat();
  if (stats.isDirectory()) return no(`${shown} is a folder; use list_dir.`);
  if (!stats.isFile()) return no(`${shown} is not a regular file.`);
  const bytes = await readBounded(handle, stats.size);
  if (bytes === undefined) return no(`${shown} is larger than 10 MB, which is more than can be read at once.`);
  const file = decodeText(bytes);
  if (file === undefined)
    return no(`${shown} is not a text file (${bytes.length} bytes, in no encoding that is known here).`);
  return { ok: true, file, stats };
}

/** Files that grow meanwhile, or claim to be empty as those in /proc do, are bounded by what is read, not by what is said. */
async function readBounded(handle: FileHandle, size: number): Promise<Buffer | undefined> {
  if (size > maxBytes) return undefined;
  const chunks: Buffer[] = [];
  let total = 0;
  for (;;) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(Math.max(4096, size - total + 1)), 0, null, total);
    if (bytesRead === 0) return Buffer.concat(chunks);
    chunks.push(buffer.subarray(0, bytesRead));
    total += bytesRead;
    if (total > maxBytes) return undefined;
  }
}

function no(text: string): LoadedText {
  return { ok: false, result: failed(text) };
}
