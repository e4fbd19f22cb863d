import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { readLedger } from "../../../src/engine/embedded/inspect/ledger.js";
import type { Engine } from "../../../src/engine/engine.js";
import type { StoredEvent } from "../../../src/events/event.js";
import { childFile } from "../project.js";
import {
  answered,
  consuming,
  counted,
  inbound,
  openIn,
  outbound,
  queued,
  titled,
  titlesOf,
  until,
} from "./engine-kit.js";

const child = childFile("support/engine/children/engine-crash-child.js");
const sessions = ["telegram:0", "telegram:1", "telegram:2", "telegram:3"];

export interface Crash {
  readonly signal: string | null;
  readonly accepted: readonly string[];
  readonly committed: readonly string[];
}

/** Runs the child until it kills itself at a boundary, is killed after some lines of output, or is done. */
export function runChild(
  home: string,
  how: {
    readonly killAt?: string;
    readonly nth?: number;
    readonly killAfterLines?: number;
    readonly messages?: number;
  },
): Promise<Crash> {
  const args = [child, home, how.killAt ?? "", String(how.nth ?? 1), String(how.messages ?? 400)];
  const running = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  running.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    const lines = output.split("\n").length;
    if (how.killAfterLines !== undefined && lines > how.killAfterLines) running.kill("SIGKILL");
  });
  return new Promise((resolve, reject) => {
    running.once("error", reject);
    running.once("close", (_code, signal) => {
      const said = (what: string): string[] =>
        [...output.matchAll(new RegExp(`^${what} (.+)\n`, "gm"))].map((match) => match[1] ?? "");
      resolve({ signal, accepted: said("accepted"), committed: said("committed") });
    });
  });
}

/** Opens the home after a crash and checks that what was promised holds, transaction by transaction; then finishes the work. */
export async function checkAfterCrash(
  home: string,
  crash: Crash,
  /** The crashed program counted what it told. */
  hasCounted = true,
): Promise<void> {
  for (const { end, messageId } of await readLedger(home, join(home, "sessions"))) {
    assert.notEqual(end, "lost", `${messageId} is lost to the ledger`);
  }
  const { engine } = await openIn(home, { quietMs: 3, journal: { segmentBytes: 30_000, sealAtLeast: 10 } });
  try {
    await checkTransactions(engine, crash, hasCounted);
    await finish(engine, crash);
  } finally {
    await engine[Symbol.asyncDispose]();
  }
  const ledger = new Map(
    (await readLedger(home, join(home, "sessions"))).map(({ messageId, end }) => [messageId, end]),
  );
  for (const id of crash.accepted) assert.equal(ledger.get(id), "answered");
}

async function checkTransactions(engine: Engine, crash: Crash, hasCounted: boolean): Promise<void> {
  const lanes = await Promise.all(sessions.map((key) => engine.waiting("inbound", key)));
  const waiting = new Set(lanes.flatMap((lane) => lane.map(({ id }) => id)));
  const unsent = new Set((await engine.waiting("outbound", "telegram:42")).map(({ id }) => id));
  const ended = new Set<string>();
  const accepted = new Set<string>();
  const logs = await Promise.all(sessions.map((key) => allEvents(engine, key)));
  for (const what of hasCounted ? ["tool", "end", "sent"] : []) {
    const told = logs.flatMap(titlesOf).filter((title) => title.startsWith(what)).length;
    const value = (await engine.records.open("counted")).get(what) ?? { times: 0 };
    assert.deepEqual(value, { times: told }, `${what} is counted as often as it is told`);
  }
  for (const events of logs) {
    const titles = titlesOf(events);
    assert.equal(
      new Set(titles.filter((title) => title.startsWith("end"))).size,
      titles.filter((title) => title.startsWith("end")).length,
    );
    for (const event of events) {
      if (event.type === "user_message_queued") accepted.add(event.payload.message_id);
      if (event.type !== "turn_execution_complete") continue;
      const [id = ""] = event.payload.message_ids;
      ended.add(id);
      assert.ok(titles.includes(`end ${id}`) && accepted.has(id), `the commit of ${id} is there as a whole`);
      assert.ok(unsent.has(`${id}#1`) !== titles.includes(`sent ${id}#1`), `the reply to ${id} waits or was sent`);
    }
  }
  for (const id of crash.accepted) assert.ok(waiting.has(id) || ended.has(id), `${id} was accepted and is lost`);
  for (const id of crash.accepted)
    assert.deepEqual(
      await engine.accept(inbound(id, "telegram:again"), { events: [queued(id)] }),
      { status: "duplicate" },
      `${id} is known`,
    );
  for (const id of crash.committed) assert.ok(ended.has(id), `${id} was committed and is not`);
  for (const id of accepted) assert.ok(waiting.has(id) !== ended.has(id), `${id} either waits or has ended`);
  for (const id of waiting) assert.ok(accepted.has(id), `${id} waits without its event`);
  if (accepted.size > 0)
    assert.ok(accepted.has((await engine.cursor("offset")) ?? ""), "the cursor moved with the work");
}

async function finish(engine: Engine, crash: Crash): Promise<void> {
  const handling = consuming(engine, "inbound", async (delivery) => {
    const { id } = delivery.work;
    await delivery.commit({
      events: [titled(`end ${id}`), answered([id])],
      emit: [outbound(`${id}#1`, delivery.work.sessionKey)],
      counts: counted("end"),
    });
  });
  await until("everything accepted is answered", () => engine.status().inboundWaiting === 0);
  await handling.stop();
  const all = (await Promise.all(sessions.map((key) => allEvents(engine, key)))).flatMap((events) => titlesOf(events));
  for (const id of crash.accepted)
    assert.equal(all.filter((title) => title === `end ${id}`).length, 1, `${id} is answered once`);
}

/** Everything in a session, read in small pieces; checks that seq runs 1..N. */
export async function allEvents(engine: Engine, key: string): Promise<readonly StoredEvent[]> {
  const all: StoredEvent[] = [];
  for (let hasMore = true; hasMore; ) {
    const part = await engine.events(key, { afterSeq: all.length, limit: 37 });
    all.push(...part.events);
    ({ hasMore } = part);
  }
  assert.deepEqual(
    all.map(({ seq }) => seq),
    all.map((_, index) => index + 1),
  );
  assert.equal(all.length, await engine.lastSequence(key));
  return all;
}
