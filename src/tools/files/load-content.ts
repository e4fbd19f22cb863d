import type { FileHandle } from "node:fs/promises";
import { type ExtractOptions, extractFile } from "../../documents/extract-text.js";
import { documentKindOf } from "../../documents/kind.js";
import { openReal } from "../../util/files/real-path.js";
import { imageTypeOf } from "../../util/image-type.js";
import { failed, type ToolResult } from "../tool.js";
import { readFailure } from "./failure.js";
import { readText } from "./load.js";
import type { Location } from "./locate.js";

/** What a file has for a model. */
export type FileContent =
  /** `note`: what the text was taken from, where the file is a document or its encoding is a guess. */
  | { readonly kind: "text"; readonly text: string; readonly note?: string }
  | { readonly kind: "image"; readonly mimeType: string; readonly bytes: number }
  | { readonly kind: "refused"; readonly result: ToolResult };

/** What the large model APIs take. */
const maxImageBytes = 5 * 1024 * 1024;

/** Reads a text file, the text of a document, or finds a picture. Its first bytes decide, not its name. */
export async function loadContent(location: Location, signal: AbortSignal, home?: string): Promise<FileContent> {
  try {
    await using handle = await openReal(location.path, { alone: location.isOwn });
    const { head, bytes } = await readHead(handle);
    const mimeType = imageTypeOf(head);
    if (mimeType !== undefined) {
      if (bytes <= maxImageBytes) return { kind: "image", mimeType, bytes };
      return refused(`${location.shown} is a picture of more than 5 MB, which is too large for a model.`);
    }
    if (documentKindOf(head) !== undefined) return await loadDocument(handle, location, { signal, home });
    const loaded = await readText(handle, location.shown);
    if (!loaded.ok) return { kind: "refused", result: loaded.result };
    const { text, encoding } = loaded.file;
    // The only one that is a guess.
    return { kind: "text", text, ...(encoding === "windows-1252" ? { note: `[read as ${encoding}]` } : {}) };
  } catch (error) {
    return { kind: "refused", result: readFailure(error, location.shown) };
  }
}

async function loadDocument(handle: FileHandle, location: Location, options: ExtractOptions): Promise<FileContent> {
  const extraction = await extractFile(handle, options);
  if (!extraction.ok) return refused(`${location.shown} ${extraction.sentence}`);
  const more = extraction.truncated ? ", its beginning" : "";
  return { kind: "text", text: extraction.text, note: `[text of a document: ${extraction.size}${more}]` };
}

async function readHead(handle: FileHandle): Promise<{ readonly head: Uint8Array; readonly bytes: number }> {
  const { size } = await handle.stat();
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(1024), 0, 1024, 0);
  return { head: buffer.subarray(0, bytesRead), bytes: size };
}

function refused(sentence: string): FileContent {
  return { kind: "refused", result: failed(sentence) };
}
