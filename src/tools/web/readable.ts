import { z } from "zod";
import { runBoundedWorker } from "../../util/async/bounded-worker.js";

/** What a page says, as Markdown. */
export interface ReadablePage {
  readonly title: string;
  readonly markdown: string;
  /** There is next to nothing to read, as in pages that only a browser fills. */
  readonly isEmpty: boolean;
}

const script = new URL("./readable-worker.js", import.meta.url);
const memoryMb = 384;
const answer = z.object({ title: z.string(), markdown: z.string(), isEmpty: z.boolean() });

/** Undefined when the page is of a kind that takes too long or too much memory to be read. */
export async function toReadable(
  html: string,
  url: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<ReadablePage | undefined> {
  const found: { page: unknown } = { page: undefined };
  const work = { data: { html, url }, onMessage: (message: unknown) => (found.page = message) };
  const end = await runBoundedWorker(script, work, { timeoutMs, memoryMb }, signal);
  if (end.kind === "failed") throw end.error;
  return answer.safeParse(found.page).data;
}
