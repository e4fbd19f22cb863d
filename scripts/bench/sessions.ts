import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeHistory } from "../../test/support/engine/histories/made-history.js";
import type { FakeModel } from "./fake-model.js";
import { median } from "./measure.js";
import { startSubject } from "./subject.js";

interface Start {
  readonly readyMs: number;
  readonly idleMb: number;
  readonly readKb: number;
}

/** How long a gateway takes to be ready that has had so many conversations; `budgetMs` holds for all of them. */
export async function benchSessions(model: FakeModel, rounds: number, budgetMs: number): Promise<boolean> {
  const rows: { readonly sessions: number; readonly start: Start }[] = [];
  for (const sessions of [10, 1000, 100_000]) rows.push({ sessions, start: await measure(sessions, model, rounds) });
  const isOk = ({ start }: (typeof rows)[number]): boolean => start.readyMs <= budgetMs;
  console.log(`Starts of maxclaw, Node ${process.version}, medians of ${rounds} runs\n`);
  console.log("| sessions | start to ready, ms | idle RSS, MB | read until ready, kB | budget, ms | |");
  console.log("|---|---|---|---|---|---|");
  for (const row of rows) {
    const { readyMs, idleMb, readKb } = row.start;
    const cells = [row.sessions, readyMs.toFixed(0), idleMb.toFixed(1), readKb.toFixed(0), budgetMs];
    console.log(`| ${cells.join(" | ")} | ${isOk(row) ? "" : "MISSED"} |`);
  }
  return rows.every(isOk);
}

async function measure(sessions: number, model: FakeModel, rounds: number): Promise<Start> {
  const home = await mkdtemp(join(tmpdir(), "maxclaw-bench-"));
  try {
    // A history without a journal would be refused.
    await (await startSubject("maxclaw", model, home))[Symbol.asyncDispose]();
    makeHistory(join(home, "workspace", ".sessions"), { sessions, turnsPerSession: 2, answerBytes: 400 });
    // The first start on it writes what is still missing.
    await (await startSubject("maxclaw", model, home))[Symbol.asyncDispose]();
    const starts: Start[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await using subject = await startSubject("maxclaw", model, home);
      const readKb = (await readBytes(subject.pid)) / 1000;
      await new Promise((resolve) => setTimeout(resolve, 1500));
      starts.push({ readyMs: subject.readyMs, idleMb: await subject.rssMegabytes(), readKb });
    }
    return {
      readyMs: median(starts.map(({ readyMs }) => readyMs)),
      idleMb: median(starts.map(({ idleMb }) => idleMb)),
      readKb: median(starts.map(({ readKb }) => readKb)),
    };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** Everything that a process has read so far, its own code included. */
async function readBytes(pid: number | undefined): Promise<number> {
  const io = await readFile(`/proc/${pid}/io`, "utf8").catch(() => "");
  return Number(/^rchar: (\d+)$/m.exec(io)?.[1] ?? Number.NaN);
}
