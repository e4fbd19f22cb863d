import { parentPort, workerData } from "node:worker_threads";
import { z } from "zod";
import { openReal } from "../../policy/paths.js";
import { decodeText } from "./text.js";

const maxBytes = 5 * 1024 * 1024;
const maxColumns = 300;
/** What a match is shown with, of a very long line. */
const columnsBefore = 80;

const work = z.object({ files: z.array(z.string()), source: z.string(), flags: z.string(), maxMatches: z.number() });

/** The whole of a search thread. A pattern that takes for ever stands still here and nowhere else. */
async function search(): Promise<void> {
  const { files, source, flags, maxMatches } = work.parse(workerData);
  const regex = new RegExp(source, flags);
  let count = 0;
  for (const [file, path] of files.entries()) {
    const text = await textOf(path);
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

/** Undefined for what is no file, or gone. */
async function textOf(path: string): Promise<string | { readonly skipped: "large" | "binary" } | undefined> {
  try {
    const handle = await openReal(path);
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) return undefined;
      if (stats.size > maxBytes) return { skipped: "large" };
      return decodeText(await handle.readFile())?.text ?? { skipped: "binary" };
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}

await search();
