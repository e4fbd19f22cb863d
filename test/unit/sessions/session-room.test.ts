import assert from "node:assert/strict";
import { test } from "node:test";
import { deserialize, serialize } from "node:v8";
import { noUsage } from "../../../src/events/content.js";
import { draft, type EventDraft, type StoredEvent } from "../../../src/events/event.js";
import { PackedSessions } from "../../../src/sessions/folds/packed-sessions.js";
import { foldsOf, restoreFolds } from "../../../src/sessions/folds/session-folds.js";
import { apply, type MutableSession, newSession } from "../../../src/sessions/resident-session.js";
import { createMemoryStorage } from "../../../src/sessions/storage/memory.js";
import type { StorageDriver } from "../../../src/sessions/storage/storage.js";
import { newId } from "../../../src/util/ids.js";
import { tempFolder, until } from "../../support/engine/engine-kit.js";
import { openStore } from "../../support/engine/histories/session-store.js";
import { liveBytes } from "../../support/engine/live-bytes.js";

/** One question and its answer, as a channel brings it. */
function turn(chat: string, question: string, answer = "Hello there!"): readonly EventDraft[] {
  const [message, turn_id] = [newId("msg"), newId("turn")];
  const asked = [{ type: "text" as const, text: question }];
  const content = [{ type: "text" as const, text: answer }];
  const of = { source: "agent", turn_id, correlation_id: message };
  const sender = { channel: "telegram", chat_id: chat, sender_id: chat, sender_name: `User ${chat}` };
  const whole = { model: "openai/bench", iteration: 1, stop_reason: "end_turn", final: true, partial: false } as const;
  const ended = { message_id: newId("msg"), stop_reason: "end_turn", iterations: 1 } as const;
  const spent = { usage: noUsage, duration_ms: 1, tool_calls: [], errors: [] };
  return [
    draft(
      "user_message_queued",
      { message_id: message, ...sender, content: asked, mode: "next", position: 0 },
      { source: "channel:telegram" },
    ),
    draft("turn_execution_start", { message_ids: [message], queued_ms: 1, attempt: 1 }, of),
    draft("user_message", { message_id: message, content: asked, iteration: 1, by: "guest" }, of),
    draft("assistant_message", { message_id: newId("msg"), content, usage: noUsage, ...whole }, of),
    draft("turn_execution_complete", { ...ended, ...spent, message_ids: [message] }, of),
  ];
}

/** A session after so many turns. Nothing of its events is shared with another one. */
function talked(key: string, turns: number, wordsOfQuestion: number): MutableSession {
  const session = newSession(key);
  session.early = undefined;
  let seq = 0;
  for (let n = 0; n < turns; n += 1) {
    for (const drafted of turn("1000", `Message ${n}: ${"what do you think? ".repeat(wordsOfQuestion / 4)}`)) {
      seq += 1;
      const timestamp = new Date(1_800_000_000_000 + seq * 1000).toISOString();
      // As it comes out of the journal, it is a thing of its own.
      const event = { ...drafted, schema_version: "1.0", session_key: key, seq, timestamp, metadata: {} };
      apply(session, deserialize(serialize(event)) as StoredEvent);
    }
  }
  return session;
}

function restored(session: MutableSession): MutableSession {
  const again = newSession(session.key);
  restoreFolds(again, deserialize(serialize(foldsOf(session))) as NonNullable<ReturnType<typeof foldsOf>>);
  again.early = undefined;
  return again;
}

/** What each of so many takes. */
function bytesOfEach<T>(
  count: number,
  make: (n: number) => T,
): { readonly bytes: number; readonly made: readonly T[] } {
  const made: T[] = [];
  const before = liveBytes();
  for (let n = 0; n < count; n += 1) made.push(make(n));
  return { bytes: (liveBytes() - before) / count, made };
}

for (const [what, turns, words, count] of [
  ["short messages", 60, 16, 60],
  ["long messages", 20, 2000, 60],
  ["few messages", 2, 16, 1000],
] as const)
  test(`a session of ${what} takes the memory that it is said to take, also once it was away`, (t) => {
    const fresh = bytesOfEach(count, (n) => talked(`telegram:${n}`, turns, words));
    const back = bytesOfEach(count, (n) => restored(fresh.made[n] ?? newSession("")));
    const said = fresh.made[0]?.bytes ?? 0;
    t.diagnostic(`${fresh.bytes} bytes, ${back.bytes} once it was away, said to be ${said}`);
    for (const bytes of [fresh.bytes, back.bytes])
      assert.ok(bytes < 1.2 * said && said < 1.5 * bytes, `${bytes} bytes, said to be ${said}`);
  });

test("a session that has left memory takes no more than its bytes", () => {
  const packed = new PackedSessions();
  const sessions = Array.from({ length: 200 }, (_, n) => talked(`telegram:${n}`, 10, 16));
  const { bytes } = bytesOfEach(sessions.length, (n) => packed.keep(sessions[n] ?? newSession("")));
  assert.ok(packed.take("telegram:150") !== undefined);
  assert.ok(bytes < 4000, `${bytes} bytes each`);
});

/** A storage whose changes wait until `open` is called. */
function createGate(): { readonly storage: StorageDriver; begun: number; changed: number; open(): void } {
  const memory = createMemoryStorage();
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const gate = {
    begun: 0,
    changed: 0,
    open: () => open(),
    storage: {
      ...memory,
      name: "gate",
      async change(changes: Parameters<StorageDriver["change"]>[0]) {
        gate.begun += 1;
        await opened;
        await memory.change(changes);
        gate.changed += 1;
      },
      [Symbol.asyncDispose]: () => memory[Symbol.asyncDispose](),
    },
  };
  return gate;
}

test("sessions whose documents wait for a slow disk leave memory, and each is written once, as it is then", async (t) => {
  const gate = createGate();
  const memory = { maxBytes: 100_000 };
  await using s = await openStore(tempFolder(t), { storage: gate.storage, storageId: "gate", memory, quietMs: 60_000 });
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() });
  const chats = 60;
  const talk = async (chat: number): Promise<void> => {
    await s.store.open(`webui:${chat}`);
    await s.engine.append(`webui:${chat}`, turn(`${chat}`, "what do you think? ".repeat(3000)), { durable: false });
    t.mock.timers.tick(10_000);
  };
  void (await s.store.open("webui:slow"));
  const before = liveBytes();
  for (let round = 0; round < 4; round += 1) {
    for (let chat = 0; chat < chats; chat += 1) await talk(chat);
    await s.engine.flush();
  }
  void s.store.flush();
  await until("the first write is under way", () => gate.begun > 0);
  const grown = liveBytes() - before;
  t.diagnostic(`${grown} bytes more`);
  assert.ok(grown < 8_000_000, `${grown} bytes more`);
  gate.open();
  await s.store.flush();
  assert.ok(gate.changed <= 2 * chats + 10, `${gate.changed} writes`);
  const lines = await s.store.list();
  assert.deepEqual(new Set(lines.map(({ messageCount }) => messageCount)), new Set([8]));
  assert.equal(lines.length, chats);
});
