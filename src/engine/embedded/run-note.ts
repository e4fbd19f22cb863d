import * as fs from "node:fs";
import { z } from "zod";
import type { Parts } from "./parts.js";
import type { LiveRecords } from "./state.js";

/** The kind of the record about this process, which no other engine needs. */
export const runKind = "engine";
const kind = runKind;
const id = "run";
const runNote = z.object({ boot: z.string().optional(), isStopped: z.boolean() });

/** What names the time since the system was started; undefined where the system does not tell. */
export function readBootId(): string | undefined {
  try {
    return fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}

/** The note of an engine that stopped in order. */
export const stoppedRun = { kind, id, value: { isStopped: true } } as const;

/** Everything that the last process wrote is there, also what it did not wait for. `boot`: since when the system runs. */
export function isAllThere({ facts }: Pick<LiveRecords, "facts">, boot: string | undefined): boolean {
  const before = runNote.safeParse(facts.get(kind)?.get(id)).data;
  return before !== undefined && (before.isStopped || (boot !== undefined && before.boot === boot));
}

/**
 * Notes that a process begins. What one before it wrote and did not wait for is there, unless the system itself went
 * down: then a send may have begun of which nothing is known, and the work that waits to be sent says so.
 */
export async function noteStart({ records, writer, journal }: Parts, boot: string | undefined): Promise<void> {
  if (!isAllThere(records, boot))
    for (const { items } of records.work.lanes("outbound")) for (const item of items) item.past = "unclear";
  writer.write([{ o: "put", kind, id, value: { ...(boot === undefined ? {} : { boot }), isStopped: false } }]);
  await journal.sync(false);
}

/** Nothing is sent by this process any more. What it knows of replies that may have been sent, the next one has to know too. */
export function noteStop({ records, writer }: Parts): void {
  const isUnclear = [...records.work.all()].some(({ past }) => past === "unclear");
  writer.write([{ o: "put", ...(isUnclear ? { kind, id, value: { isStopped: false } } : stoppedRun) }]);
}
