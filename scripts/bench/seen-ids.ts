import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSegment, loadJournal } from "../../src/engine/embedded/journal/load.js";
import { journalFolder } from "../../src/engine/embedded/journal/segment.js";
import { seenFolder } from "../../src/engine/embedded/seen/format.js";
import { SeenKeeper } from "../../src/engine/embedded/seen/seen-keeper.js";
import type { LiveRecords } from "../../src/engine/embedded/state.js";
import { silentLog } from "../../src/log.js";

const perSegment = 20_000;

/** What the ids of a week cost a start in time and memory, and how long moving them holds others up. */
export async function benchIds(self: string): Promise<boolean> {
  const rows: { readonly count: number; readonly startMs: number; readonly rssMb: number; readonly stallMs: number }[] =
    [];
  for (const count of [0, 2_000_000, 6_000_000]) rows.push({ count, ...(await measure(count, self)) });
  const [empty] = rows;
  console.log("| ids | open, ms | RSS, MB | longest stall while moving them, ms |");
  console.log("|---|---|---|---|");
  for (const { count, startMs, rssMb, stallMs } of rows)
    console.log(`| ${count} | ${startMs.toFixed(0)} | ${rssMb.toFixed(1)} | ${stallMs.toFixed(0)} |`);
  const { startMs = 0, rssMb = 0 } = empty ?? {};
  return rows.every((row) => row.startMs - startMs <= 200 && row.rssMb - rssMb <= 30 && row.stallMs <= 50);
}

async function measure(count: number, self: string) {
  const home = await mkdtemp(join(tmpdir(), "maxclaw-bench-"));
  try {
    const { records } = await loadJournal(home, silentLog);
    const stallMs = await fill(home, records, count);
    await createSegment(journalFolder(home), 2, 0, records);
    records.seen.close();
    const [startMs = 0, rssMb = 0] = execFileSync(process.execPath, [self, "ids-open", home], { encoding: "utf8" })
      .trim()
      .split(" ")
      .map(Number);
    return { startMs, rssMb, stallMs };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

async function fill(home: string, { seen }: LiveRecords, count: number): Promise<number> {
  const now = Date.now;
  const note = async (files: typeof seen.files): Promise<void> => seen.replaceFiles(files);
  const folder = seenFolder(journalFolder(home));
  const keeper = new SeenKeeper({ ids: seen, folder, log: silentLog, now, boundary: () => {}, note });
  const steps = new Steps();
  for (let done = 0; done < count; done += perSegment) {
    for (let n = done; n < done + perSegment; n += 1) seen.remember(`d:telegram:update:${n}`, now());
    steps.start();
    (await keeper.seal())();
    await keeper.merge();
    steps.stop();
  }
  return steps.longestMs;
}

/** The longest step between two turns of the event loop, in processor time, which others on the machine do not lengthen. */
class Steps {
  longestMs = 0;
  #next: NodeJS.Immediate | undefined;

  start(): void {
    const since = process.cpuUsage();
    this.#next = setImmediate(() => {
      const { user, system } = process.cpuUsage(since);
      this.longestMs = Math.max(this.longestMs, (user + system) / 1000);
      this.start();
    });
  }

  stop(): void {
    clearImmediate(this.#next);
  }
}

/** In a process of its own: tells how long opening takes and what the process holds then. */
export async function openIds(home: string): Promise<void> {
  const startedAt = performance.now();
  const { records } = await loadJournal(home, silentLog);
  const ms = performance.now() - startedAt;
  console.log(ms, process.memoryUsage.rss() / 1e6);
  records.seen.close();
}
