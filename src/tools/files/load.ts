import type { Stats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { codeOf } from "../../util/error-code.js";
import { readWhole } from "../../util/files/noted-file.js";
import { openReal } from "../../util/files/real-path.js";
import { failed, type ToolResult } from "../tool.js";
import { readFailure } from "./failure.js";
import type { Location } from "./locate.js";
import { decodeText, type FileText } from "./text.js";

const maxBytes = 10 * 1024 * 1024;

export type LoadedText =
  | { readonly ok: true; readonly file: FileText; readonly stats: Stats }
  | { readonly ok: false; readonly result: ToolResult };

/** Reads a text file of at most 10 MB. Folders, pipes, devices and binary files are refused with a sentence. */
export async function loadText(location: Location): Promise<LoadedText> {
  try {
    await using handle = await openReal(location.path, { alone: location.isOwn });
    return await readText(handle, location.shown);
  } catch (error) {
    return { ok: false, result: readFailure(error, location.shown) };
  }
}

/** The same of a file that is open. */
export async function readText(handle: FileHandle, shown: string): Promise<LoadedText> {
  const stats = await handle.stat();
  const bytes = await readWhole(handle, maxBytes, shown).catch((error: unknown) => {
    if (codeOf(error) !== "EFBIG") throw error;
    return undefined;
  });
  if (bytes === undefined) return no(`${shown} is larger than 10 MB, which is more than can be read at once.`);
  const file = decodeText(bytes);
  if (file === undefined)
    return no(`${shown} is not a text file (${bytes.length} bytes, in no encoding that is known here).`);
  return { ok: true, file, stats };
}

function no(text: string): LoadedText {
  return { ok: false, result: failed(text) };
}
