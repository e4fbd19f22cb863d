import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { applyLines } from "../../../src/engine/embedded/journal/load.js";
import { parseSegment } from "../../../src/engine/embedded/journal/segment.js";
import { LiveRecords } from "../../../src/engine/embedded/state.js";
import { consuming, gate, inbound, openIn, outbound, queued, tempFolder, titled, until } from "./engine-kit.js";

/** A folder whose syncs cost nothing, where the system has such a place; it goes away with the test. */
export function memoryFolder(t: TestContext): string {
  if (!fs.existsSync("/dev/shm")) return tempFolder(t);
  const folder = fs.mkdtempSync("/dev/shm/maxclaw-");
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Everything that a journal says: equal for equal live records, and for no others. */
export function fingerprint(records: LiveRecords): string {
  return createHash("sha256")
    .update(JSON.stringify([...records.checkpoint()]))
    .digest("hex");
}

/** A journal segment and what it says after each of its lines. */
export interface Specimen {
  readonly name: string;
  readonly bytes: Buffer;
  /** Where each line ends; the last one is the file's length. */
  readonly lineEnds: readonly number[];
  /** Behind the checkpoint at its head: a shorter file is not a journal. */
  readonly headEnd: number;
  /** The live records after all lines that end at or before an offset. */
  readonly stateAt: (offset: number) => string;
}

/**
 * A journal with every kind of operation in it, as a process leaves it that was killed: of the first segment, or of a
 * later one with live records in the checkpoint at its head.
 */
export async function specimen(t: TestContext, isRotated: boolean): Promise<Specimen> {
  const home = tempFolder(t);
  if (isRotated) {
    const before = await openIn(home, { quietMs: 60_000, journal: { forgetMs: 60_000 } });
    await workload(before.engine, "old");
    await before.engine[Symbol.asyncDispose]();
  }
  const { engine } = await openIn(home, { quietMs: 60_000, journal: { forgetMs: 60_000 } });
  await workload(engine, "new");
  const [name = ""] = fs.readdirSync(join(home, "journal"));
  const path = join(home, "journal", name);
  // It may have been before the workload's last line could be looked at.
  await until("the synced offset is written down", () => {
    const last = parseSegment(name, fs.readFileSync(path)).lines.at(-1)?.line;
    return last?.kind === "transaction" && last.ops.length === 0;
  });
  // What comes after the last offset that is known to be synced.
  for (const id of ["last_1", "last_2"]) await engine.accept(inbound(id), { events: [queued(id)] });
  const bytes = fs.readFileSync(path);
  await engine[Symbol.asyncDispose]();
  return describeSegment(name, bytes);
}

export function describeSegment(name: string, bytes: Buffer): Specimen {
  const lineEnds: number[] = [];
  for (let lf = bytes.indexOf(10); lf !== -1; lf = bytes.indexOf(10, lf + 1)) lineEnds.push(lf + 1);
  const content = parseSegment(name, bytes);
  const states = new Map<number, string>();
  return {
    name,
    bytes,
    lineEnds,
    headEnd: content.checkpointEnd ?? 0,
    stateAt(offset) {
      const end = lineEnds.findLast((lineEnd) => lineEnd <= offset) ?? 0;
      const known = states.get(end);
      if (known !== undefined) return known;
      const records = new LiveRecords();
      applyLines(records, content, end);
      const state = fingerprint(records);
      states.set(end, state);
      return state;
    },
  };
}

type Engine = Awaited<ReturnType<typeof openIn>>["engine"];

/** Some of everything: work that waits, was done, was retried, was buried; facts, cursors, a deleted session. */
async function workload(engine: Engine, name: string): Promise<void> {
  const id = (what: string): string => `${name}_${what}`;
  const key = (what: string): string => `telegram:${name}-${what}`;
  const accept = (what: string, chat: string) =>
    engine.accept(inbound(id(what), key(chat), { dedupId: `dedup ${id(what)}` }), {
      events: [queued(id(what))],
      cursor: { name: "telegram:offset", value: id(what) },
    });
  for (const what of ["done", "retried", "buried", "again"]) await accept(what, what);
  const retried = gate();
  const handling = consuming(engine, "inbound", async (delivery) => {
    const { work } = delivery;
    const events = [titled(`${work.id} – „Grüße“ 你好`)];
    if (work.id === id("done")) await delivery.commit({ events, emit: [outbound(`${work.id}#1`, work.key)] });
    else if (work.id === id("retried")) {
      await delivery.retry({ reason: "later", delayMs: 600_000, events });
      retried.open();
    } else await delivery.bury({ events, emit: [], reason: "poison" });
  });
  await retried.opened;
  await until("the others have ended", async () => (await engine.waiting("inbound", key("again"))).length === 0);
  await until("all are told", async () => (await engine.dead.list()).length >= 2);
  await handling.stop();
  await engine.dead.redrive(id("again"));
  await (await engine.records.open("pairing")).put(id("fact"), { nested: ["ü", 1, null] });
  await (await engine.records.open("pairing")).put(id("gone"), "x");
  await (await engine.records.open("pairing")).delete(id("gone"));
  await engine.append(key("deleted"), [titled("1"), titled("2")], { durable: false });
  await engine.deleteSession(key("deleted"));
  await accept("waiting", "waiting");
}
