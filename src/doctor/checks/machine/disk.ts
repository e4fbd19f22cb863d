import { mkdtemp, open, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { nearest } from "../../../util/files/free-room.js";
import { reasonOf } from "../../../util/files/system-fault.js";
import { findingSentence } from "../../../util/words/finding-sentences.js";
import type { Check, Finding } from "../../check.js";

const megabyte = 1024 ** 2;
const tries = 5;

/** Room, and how long the disk takes to keep something: each message waits for that. */
export const diskCheck: Check = {
  name: "disk",
  async run({ home, loaded }) {
    const { workspace } = loaded.config.agents.defaults;
    const places = new Map<number, string>();
    for (const folder of [home, workspace]) {
      const there = await nearest(folder);
      const { dev } = await stat(there);
      if (!places.has(dev)) places.set(dev, there);
    }
    const found = await Promise.all([...places.values()].map(roomIn));
    const isThere = (await nearest(home)) === home;
    return [...found.flat(), ...(isThere ? await syncTime(home) : [])];
  },
};

async function roomIn(folder: string): Promise<readonly Finding[]> {
  const { bavail, bsize, files, ffree } = await statfs(folder);
  const free = bavail * bsize;
  const values = { n: Math.floor(free / megabyte), folder };
  const level = free < 100 * megabyte ? "fail" : free < 1024 * megabyte ? "warn" : "ok";
  const room: Finding =
    level === "ok"
      ? { level, found: findingSentence("disk_free", values) }
      : { level, found: findingSentence("disk_low", values), todo: findingSentence("disk_todo") };
  // Some file systems count no files.
  if (files > 0 && ffree < 1000)
    return [
      room,
      {
        level: "fail",
        found: findingSentence("few_files", { n: ffree, folder }),
        todo: findingSentence("few_files_todo"),
      },
    ];
  return [room];
}

/** The one thing that a look writes: a few bytes, which are removed at once. */
async function syncTime(home: string): Promise<readonly Finding[]> {
  let folder: string;
  try {
    folder = await mkdtemp(join(home, ".doctor-"));
  } catch (error) {
    return notMeasured(error);
  }
  try {
    const file = await open(join(folder, "probe"), "w", 0o600);
    const times: number[] = [];
    try {
      for (let left = tries; left > 0; left -= 1) {
        const from = performance.now();
        await file.write("x".repeat(512));
        await file.datasync();
        times.push(performance.now() - from);
      }
    } finally {
      await file.close();
    }
    const ms = times.sort((a, b) => a - b)[Math.floor(tries / 2)] ?? 0;
    const values = { ms: ms < 10 ? ms.toFixed(1) : Math.round(ms) };
    if (ms < 200) return [{ level: "ok", found: findingSentence("disk_speed", values) }];
    return [
      {
        level: ms < 2000 ? "warn" : "fail",
        found: findingSentence("disk_slow", values),
        todo: findingSentence("disk_slow_todo"),
      },
    ];
  } catch (error) {
    return notMeasured(error);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function notMeasured(error: unknown): readonly Finding[] {
  return [{ level: "warn", found: findingSentence("disk_unmeasured", { reason: reasonOf(error) }) }];
}
