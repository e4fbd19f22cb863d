import { parentPort, workerData } from "node:worker_threads";
import { z } from "zod";
import { isInside } from "../../../policy/locations/paths.js";
import { readWhole } from "../../../util/files/noted-file.js";
import { LinkedFileError, openReal } from "../../../util/files/real-path.js";
import { decodeText } from "../text.js";

const maxBytes = 5 * 1024 * 1024;
const maxColumns = 300;
/** What a match is shown with, of a very long line. */
const columnsBefore = 80;

const work = z.object({
  /** Resolved, as policy has judged them: a path that leads elsewhere by now is not opened. */
  files: z.array(z.string()),
  /** Where no file with a second name is read. */
  own: z.string(),
  source: z.string(),
  flags: z.string(),
  maxMatches: z.number(),
});

/** The whole of a search thread. A pattern that takes for ever stands still here and nowhere else. */
async function search(): Promise<void> {
  const { files, own, source, flags, maxMatches } = work.parse(workerData);
  const regex = new RegExp(source, flags);
  let count = 0;
  for (const [file, path] of files.entries()) {
    const text = await textOf(path, isInside(own, path));
    if (typeof text !== "string") {
      if (text !== undefined) parentPort?.postMessage({ file, skipped: text.skipped });
      continue;
    }
    for (const [index, line] of text.split(/\r?\n/).entries()) {
      const match = regex.exec(line);
      if (match === null) continue;
      parentPort?.postMessage({ file, line: index + 1, text: around(line, match.index) });
      count += 1;
      if (count >= maxMatches) return;
    }
  }
}

function around(line: string, at: number): string {
  if (line.length <= maxColumns) return line.toWellFormed();
  const start = Math.max(0, Math.min(at - columnsBefore, line.length - maxColumns));
  return `${start > 0 ? "…" : ""}${line.slice(start, start + maxColumns)}…`.toWellFormed();
}

type Skipped = { readonly skipped: "large" | "binary" | "linked" };

/** Undefined for what is not a file, gone, or moved since it was judged. */
async function textOf(path: string, alone: boolean): Promise<string | Skipped | undefined> {
  try {
    await using handle = await openReal(path, { alone });
    if ((await handle.stat()).size > maxBytes) return { skipped: "large" };
    return decodeText(await readWhole(handle, maxBytes, path))?.text ?? { skipped: "binary" };
  } catch (error) {
    return error instanceof LinkedFileError ? { skipped: "linked" } : undefined;
  }
}

void search();
