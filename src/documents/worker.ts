import { parentPort, workerData } from "node:worker_threads";
import { z } from "zod";
import { isNotInstalled } from "../util/not-installed.js";
import { UnreadableError } from "./unreadable.js";

const work = z.object({
  bytes: z.instanceof(Uint8Array),
  kind: z.enum(["pdf", "office"]),
  limit: z.number(),
  home: z.string().optional(),
});

/** The whole of a document thread: one document in, one answer out. */
async function answer(): Promise<unknown> {
  const { bytes, kind, limit, home } = work.parse(workerData);
  try {
    if (kind === "pdf") {
      const { readPdf } = await import("./pdf.js");
      return { ok: true, ...(await readPdf(bytes, limit, home)) };
    }
    const { readOffice } = await import("./office.js");
    return { ok: true, ...(await readOffice(bytes, limit)) };
  } catch (error) {
    if (error instanceof UnreadableError) return { ok: false, sentence: error.message };
    if (isNotInstalled(error))
      return {
        ok: false,
        sentence: "cannot be read: the reader of PDF files is not installed here. Install it with: maxclaw add pdf",
      };
    throw error;
  }
}

void answer().then((found) => parentPort?.postMessage(found));
