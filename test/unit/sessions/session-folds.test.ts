import assert from "node:assert/strict";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { deserialize, serialize } from "node:v8";
import fc from "fast-check";
import { noUsage } from "../../../src/events/content.js";
import { draft, type EventDraft, type StoredEvent } from "../../../src/events/event.js";
import { foldCode, foldCodeMark } from "../../../src/sessions/folds/fold-code.js";
import { PackedList } from "../../../src/sessions/folds/packed-list.js";
import { foldsOf, restoreFolds, type SessionFolds } from "../../../src/sessions/folds/session-folds.js";
import { apply, newSession } from "../../../src/sessions/resident-session.js";
import { newId } from "../../../src/util/ids.js";
import { tempFolder } from "../../support/engine/engine-kit.js";
import { madeKey, makeHistory } from "../../support/engine/histories/made-history.js";
import { anyHistory, logOf } from "../../support/engine/histories/random-histories.js";
import { type OpenedStore, openStore } from "../../support/engine/histories/session-store.js";
import { liveBytes } from "../../support/engine/live-bytes.js";
import { fuzzOptions } from "../../support/fuzz.js";
import { watchReads } from "../../support/rules/watch-reads.js";
import { withoutProc } from "../../support/worlds/needs.js";

const key = "webui:long";

function turn(n: number, text = `Answer number ${n}, secretly.`): readonly EventDraft[] {
  const message = `msg_${n}`;
  const content = [{ type: "text" as const, text: `Question ${n}?` }];
  const of = { source: "agent", turn_id: `turn_${n}`, correlation_id: message };
  const whole = {
    model: "m",
    iteration: 1,
    stop_reason: "end_turn",
    usage: noUsage,
    final: true,
    partial: false,
  } as const;
  const ended = { message_id: `a_${n}`, stop_reason: "end_turn", iterations: 1 } as const;
  return [
    draft(
      "user_message_queued",
      { message_id: message, channel: "webui", chat_id: "long", sender_id: "1", content, mode: "next", position: 0 },
      { source: "client" },
    ),
    draft("turn_execution_start", { message_ids: [message], queued_ms: 1, attempt: 1 }, of),
    draft("user_message", { message_id: message, content, iteration: 1 }, of),
    draft("assistant_message", { message_id: newId("msg"), content: [{ type: "text", text }], ...whole }, of),
    draft(
      "turn_execution_complete",
      { ...ended, message_ids: [message], usage: noUsage, duration_ms: 1, tool_calls: [], errors: [] },
      of,
    ),
  ];
}

/** As long sessions have it: most of the context is a summary. */
function compressed(before: number): EventDraft {
  const sizes = {
    original_message_count: before,
    final_message_count: 11,
    estimated_tokens: 9,
    token_budget: 10,
    utilization_pct: 90,
  };
  return draft("context_compressed", { strategy: "summary", summary: "All of it.", ...sizes }, { source: "agent" });
}

/** A session of so many turns, at rest and written. */
async function talk(s: OpenedStore, from: number, to: number): Promise<void> {
  await s.store.open(key);
  for (let n = from; n < to; n++) await s.engine.append(key, turn(n), { durable: false });
  await s.store.flush();
}

function foldPath(home: string): string {
  return join(home, "sessions", ".kept", "webui_long", "folds.bin");
}

/** What a session shows, and how much was read to open it. */
async function look(home: string): Promise<{ readonly shown: unknown; readonly bytes: number }> {
  await using s = await openStore(home, { quietMs: 60_000 });
  const watch = watchReads(home);
  const { history, document, turns, spending, agentState, wanted, messages } = await s.store.open(key);
  const { bytes } = watch.end();
  const { last } = turns;
  const shown = {
    history: history.toMessages(undefined),
    tokens: history.tokens,
    document: document.toDocument(),
    last,
  };
  return { shown: { ...shown, calls: spending.calls, agentState, wanted, queued: [...messages.queued] }, bytes };
}

function copyOf(t: TestContext, home: string): string {
  const copy = tempFolder(t);
  cpSync(home, copy, { recursive: true });
  return copy;
}

async function longSession(t: TestContext, turns = 400): Promise<string> {
  const home = tempFolder(t);
  await using s = await openStore(home, { quietMs: 60_000 });
  await talk(s, 0, turns - 20);
  await s.engine.append(key, [compressed(2 * (turns - 20))], { durable: false });
  await talk(s, turns - 20, turns);
  await talk(s, turns, turns + 5);
  assert.ok(existsSync(foldPath(home)));
  return home;
}

test("whatever has happened, the folds of a session go on from a file as from its log", (t) => {
  const folded = (events: readonly StoredEvent[], cut: number): SessionFolds | undefined => {
    const session = newSession("webui:any");
    for (const event of events.slice(0, cut)) apply(session, event);
    const folds = foldsOf(session);
    if (folds === undefined) return undefined;
    const again = newSession("webui:any");
    restoreFolds(again, deserialize(serialize(folds)));
    for (const event of events.slice(cut)) apply(again, event);
    return foldsOf(again);
  };
  let compared = 0;
  fc.assert(
    fc.property(anyHistory, fc.nat(), (steps, at) => {
      const { events } = logOf(steps);
      const whole = folded(events, 0);
      const half = folded(events, at % (events.length + 1));
      if (whole === undefined || half === undefined) return;
      compared += 1;
      assert.deepEqual(half, whole);
    }),
    fuzzOptions(t, 300),
  );
  assert.ok(compared > 5, `${compared} compared`);
});

test("a long session opens from its folds and the end of its log, and shows the same", {
  skip: withoutProc(),
}, async (t) => {
  const home = await longSession(t, 3000);
  const quick = await look(home);
  const log = readFileSync(join(home, "sessions", "webui_long.events.jsonl"));
  assert.ok(quick.bytes < log.length / 2, `${quick.bytes} of ${log.length} bytes`);
  rmSync(foldPath(home));
  const slow = await look(home);
  assert.ok(slow.bytes > log.length);
  assert.deepEqual(quick.shown, slow.shown);
});

for (const [how, spoil] of [
  ["damaged", (bytes: Buffer) => Buffer.concat([bytes.subarray(0, -10), Buffer.alloc(10)])],
  ["cut", (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
  ["empty", () => Buffer.alloc(0)],
  [
    "of another program version",
    (bytes: Buffer) => Buffer.from(bytes.toString("latin1").replace(/"version":"[^"]+"/, '"version":"9.9"'), "latin1"),
  ],
  [
    "of other code of this version",
    (bytes: Buffer) => Buffer.from(bytes.toString("latin1").replace(/"code":"[^"]+"/, '"code":"0123"'), "latin1"),
  ],
  [
    "of another session",
    (bytes: Buffer) =>
      Buffer.from(bytes.toString("latin1").replace('"key":"webui:long"', '"key":"webui:else"'), "latin1"),
  ],
  [
    "ahead of the log",
    (bytes: Buffer) => Buffer.from(bytes.toString("latin1").replace(/"seq":\d+/, '"seq":999999'), "latin1"),
  ],
  [
    "of another history",
    (bytes: Buffer) =>
      Buffer.from(bytes.toString("latin1").replace(/"eventId":"evt_..../, '"eventId":"evt_zzzz'), "latin1"),
  ],
] as const)
  test(`folds that are ${how} count for nothing: the log does`, async (t) => {
    const home = await longSession(t, 120);
    const path = foldPath(home);
    const { shown, bytes: few } = await look(home);
    const bytes = readFileSync(path);
    writeFileSync(path, spoil(bytes));
    assert.notDeepEqual(readFileSync(path), bytes);
    const again = await look(home);
    assert.deepEqual(again.shown, shown);
    if (!withoutProc()) assert.ok(again.bytes > few, `${again.bytes} bytes read`);
  });

test("a session that has left memory comes back without its log being read, and with what has happened since", {
  skip: withoutProc(),
}, async (t) => {
  const home = tempFolder(t);
  await using s = await openStore(home, { memory: { maxSessions: 1 }, quietMs: 60_000 });
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() });
  // Too short for a file of its folds.
  await talk(s, 0, 60);
  const first = await s.store.open(key);
  t.mock.timers.tick(10_000);
  await s.store.open("webui:other");
  await s.engine.append(key, turn(60), { durable: false });
  await s.engine.flush();
  const { length } = readFileSync(join(home, "sessions", "webui_long.events.jsonl"));
  const watch = watchReads(home);
  const again = await s.store.open(key);
  const { bytes } = watch.end();
  assert.notEqual(again.agentId, first.agentId);
  assert.equal(again.document.lastSequence, 61 * 5);
  assert.ok(bytes < length / 2, `${bytes} of ${length} bytes`);
  const shown = [again.document.toDocument(), again.history.toMessages(undefined), again.turns.last];
  await using fresh = await openStore(copyOf(t, home), { quietMs: 60_000 });
  const { document, history, turns } = await fresh.store.open(key);
  assert.deepEqual(shown, [document.toDocument(), history.toMessages(undefined), turns.last]);
});

test("the mark of the code that makes folds changes with any of it, and all that folds is in it", () => {
  const parts = Object.values(newSession("webui:any")).filter(
    (part: unknown) => typeof part === "object" && part !== null && "restore" in part,
  );
  assert.ok(parts.length >= 6);
  for (const part of parts) assert.ok(foldCode.includes(part.constructor), part.constructor.name);
  const marks = foldCode.map((one, at) =>
    foldCodeMark([...foldCode.slice(0, at), `${one} `, ...foldCode.slice(at + 1)]),
  );
  assert.equal(new Set([foldCodeMark(), ...marks]).size, foldCode.length + 1);
  assert.match(foldCodeMark(), /^[0-9a-f]{16}$/);
});

test("a list whose older part is packed is the list that it would be", (t) => {
  const step = fc.oneof(
    fc.record({ push: fc.integer({ min: 1, max: 900 }) }),
    fc.record({ replace: fc.nat(1000) }),
    fc.record({ keep: fc.nat(1000) }),
    fc.constant("file" as const),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), fc.nat(2000), (steps, open) => {
      const packed = { list: new PackedList<number>() };
      let plain: number[] = [];
      for (const one of steps) {
        if (one === "file") {
          const file = deserialize(serialize(packed.list.pack((item) => item === open)));
          packed.list = new PackedList();
          packed.list.restore(file);
        } else if ("push" in one)
          for (let n = 0; n < one.push; n++) {
            packed.list.push(plain.length);
            plain.push(plain.length);
          }
        else if ("replace" in one) {
          // As a fold does: what may still change is not packed.
          const wanted = one.replace % 2 === 0 ? open : plain.at(-1);
          const at = plain.lastIndexOf(wanted ?? -1);
          assert.equal(
            packed.list.replaceLast(
              (item) => item === wanted,
              (item) => item,
            ),
            at !== -1,
          );
        } else {
          plain = plain.slice(0, one.keep);
          packed.list.set(packed.list.all().slice(0, one.keep));
        }
        assert.deepEqual([packed.list.length, packed.list.last], [plain.length, plain.at(-1)]);
      }
      assert.deepEqual(packed.list.all(), plain);
    }),
    fuzzOptions(t, 200),
  );
});

test("an undo and a fresh start reach behind the folds, and into what is packed in them", async (t) => {
  const home = await longSession(t, 450);
  {
    await using s = await openStore(home, { quietMs: 60_000 });
    const session = await s.store.open(key);
    const toSeq = session.turns.last?.beforeSeq ?? 0;
    const undo = draft("session_history_changed", { kind: "undo", to_seq: toSeq - 1500 }, { source: "gateway" });
    await s.engine.append(key, [undo], { durable: false });
  }
  const quick = await look(home);
  rmSync(foldPath(home), { force: true });
  assert.deepEqual(quick.shown, (await look(home)).shown);
});

test("no file below the home holds a word of a deleted session, its folds included", async (t) => {
  const home = await longSession(t, 150);
  const holders = (): readonly string[] =>
    readdirSync(home, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => readFileSync(path).includes("secretly"));
  assert.ok(holders().includes(foldPath(home)));
  {
    await using s = await openStore(home, { quietMs: 60_000 });
    await talk(s, 200, 320);
    await s.store.delete(key);
  }
  assert.deepEqual(holders(), []);
  await using again = await openStore(home, { quietMs: 60_000 });
  assert.equal((await again.store.open(key)).document.messageCount, 0);
});

test("folds hold no thinking, which the log may have been told to leave out", async (t) => {
  const home = tempFolder(t);
  await using s = await openStore(home, { quietMs: 60_000 });
  const session = await s.store.open(key);
  for (let n = 0; n < 130; n++) {
    const [accepted, started, read, answer, ended] = turn(n);
    if (!accepted || !started || !read || answer?.type !== "assistant_message" || !ended) throw new Error("No turn");
    session.history.keepThoughts(answer.payload.message_id, [
      { type: "thinking", text: "never-written" },
      ...answer.payload.content,
    ]);
    await s.engine.append(key, [accepted, started, read, answer, ended], { durable: false });
  }
  await s.store.flush();
  assert.ok(!readFileSync(foldPath(home)).includes("never-written"));
});

test("a session of 100,000 events takes little memory once it is open", async (t) => {
  const home = tempFolder(t);
  makeHistory(join(home, "sessions"), { sessions: 1, turnsPerSession: 20_000, answerBytes: 200 });
  {
    await using s = await openStore(home, { quietMs: 60_000 });
    await s.store.open(madeKey(0));
    await s.engine.append(madeKey(0), [compressed(40_000), ...turn(1)], { durable: false });
    await s.store.flush();
  }
  await using s = await openStore(home, { quietMs: 60_000 });
  const before = liveBytes();
  const startedAt = performance.now();
  const session = await s.store.open(madeKey(0));
  t.diagnostic(`opened in ${(performance.now() - startedAt).toFixed(0)} ms`);
  const bytes = liveBytes() - before;
  // Most of it is the file: as objects it would be twice as much.
  assert.ok(bytes < 13_000_000, `${bytes} bytes`);
  assert.equal(session.document.lastSequence, 100_006);
});
