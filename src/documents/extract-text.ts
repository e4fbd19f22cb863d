import type { FileHandle } from "node:fs/promises";
import { z } from "zod";
import { runBoundedWorker, type WorkerEnd } from "../util/async/bounded-worker.js";
import { codeOf } from "../util/error-code.js";
import { readWhole } from "../util/files/noted-file.js";
import { documentKindOf } from "./kind.js";

export interface ExtractOptions {
  /** Characters of text at most. Default 2,000,000. */
  readonly limit?: number;
  readonly timeoutMs?: number;
  readonly memoryMb?: number;
  readonly signal: AbortSignal;
  /** Where packages may have been added. */
  readonly home?: string | undefined;
}

export type Extraction =
  | {
      readonly ok: true;
      /** Pages, slides and sheets begin with a heading of their own. */
      readonly text: string;
      /** There would have been more. */
      readonly truncated: boolean;
      /** For people, e.g. `3 pages`. */
      readonly size: string;
    }
  /** `sentence` goes on from the file's name: `is protected by a password.` */
  | { readonly ok: false; readonly sentence: string };

const maxBytes = 50 * 1024 * 1024;
const script = new URL("./worker.js", import.meta.url);

const answer = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), text: z.string(), truncated: z.boolean(), size: z.string() }),
  z.object({ ok: z.literal(false), sentence: z.string() }),
]);

/**
 * The text of a PDF, docx, xlsx or pptx file that is open, read in a thread of its own with limits on time and memory.
 * Whatever is wrong with the file is a sentence.
 *
 * @throws the signal's reason; errors of the file system
 */
export async function extractFile(handle: FileHandle, options: ExtractOptions): Promise<Extraction> {
  const bytes = await readWhole(handle, maxBytes, "The document").catch((error: unknown) => {
    if (codeOf(error) !== "EFBIG") throw error;
    return undefined;
  });
  if (bytes === undefined) return no("is larger than 50 MB, which is more than can be read.");
  return await extractBytes(bytes, options);
}

/** The same for a document in memory. */
export async function extractBytes(bytes: Buffer, options: ExtractOptions): Promise<Extraction> {
  const { limit = 2_000_000, timeoutMs = 30_000, memoryMb = 512, signal, home } = options;
  const kind = documentKindOf(bytes);
  if (kind === undefined) return no("is not a PDF, docx, xlsx or pptx file.");
  if (kind === "old")
    return bytes.includes(Buffer.from("EncryptedPackage", "utf16le"))
      ? no("is protected by a password.")
      : no("has the format of Office before 2007; save it as docx, xlsx or pptx.");
  const found: { answer: unknown } = { answer: undefined };
  const end = await runBoundedWorker(
    script,
    { data: { bytes, kind, limit, home }, onMessage: (message) => (found.answer = message) },
    { timeoutMs, memoryMb },
    signal,
  );
  const parsed = answer.safeParse(found.answer);
  return parsed.success ? parsed.data : no(sentenceOf(end, timeoutMs));
}

function sentenceOf(end: WorkerEnd, timeoutMs: number): string {
  switch (end.kind) {
    case "timeout":
      return `could not be read within ${timeoutMs / 1000} seconds.`;
    case "memory":
      return "takes too much memory to be read.";
    case "failed":
    case "done":
      return "is damaged and cannot be read.";
    default:
      return end satisfies never;
  }
}

function no(sentence: string): Extraction {
  return { ok: false, sentence };
}
