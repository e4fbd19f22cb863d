import * as fs from "node:fs";
import { z } from "zod";
import type { Parts } from "./parts.js";

const kind = "engine";
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

/**
 * Notes that a process begins. What one before it wrote and did not wait for is there, unless the system itself went
 * down: then a send may have begun of which nothing is known, and the work that waits to be sent says so.
 */
export async function noteStart({ records, writer, journal }: Parts, boot: string | undefined): Promise<void> {
  const before = runNote.safeParse(records.facts.get(kind)?.get(id)).data;
  const isAllThere = before !== undefined && (before.isStopped || (boot !== undefined && before.boot === boot));
  if (!isAllThere)
    for (const { items } of records.work.lanes("outbound")) for (const item of items) item.past = "unclear";
  writer.write([{ o: "put", kind, id, value: { ...(boot === undefined ? {} : { boot }), isStopped: false } }]);
  await journal.sync(false);
}

/** Nothing is sent by this process any more. */
export function noteStop({ records, writer }: Parts): void {
  const { boot } = runNote.parse(records.facts.get(kind)?.get(id));
  writer.write([{ o: "put", kind, id, value: { ...(boot === undefined ? {} : { boot }), isStopped: true } }]);
}
