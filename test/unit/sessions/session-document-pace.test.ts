import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createMemoryStorage } from "../../../src/sessions/storage/memory.js";
import type { StorageDriver } from "../../../src/sessions/storage/storage.js";
import { queued, tempFolder, until } from "../../support/engine/engine-kit.js";
import { openStore } from "../../support/engine/histories/session-store.js";

const key = "webui:long";
const text = "A sentence that somebody may say in a chat. ".repeat(12);

/** A storage that counts what is written into it. */
function counting(): { readonly storage: StorageDriver; readonly written: () => number; readonly shown: () => number } {
  const inner = createMemoryStorage();
  let bytes = 0;
  let sequence = 0;
  const storage: StorageDriver = {
    ...inner,
    async change(changes) {
      for (const { value } of changes) {
        bytes += JSON.stringify(value ?? null).length;
        if (value !== undefined && "lastSequence" in value) sequence = Number(value.lastSequence);
      }
      await inner.change(changes);
    },
  };
  return { storage, written: () => bytes, shown: () => sequence };
}

/** A conversation with so many messages, in memory and with its document written. */
async function conversation(t: TestContext, messages: number) {
  const counter = counting();
  const s = await openStore(tempFolder(t), { storage: counter.storage, quietMs: 0 });
  await s.store.open(key);
  const say = (n: number) => {
    const message = queued(`msg_${n}`);
    const content = [{ type: "text", text: `${n} ${text}` }];
    return s.engine.append(key, [{ ...message, payload: { ...message.payload, content } } as typeof message], {
      durable: false,
    });
  };
  for (let n = 0; n < messages; n += 1) await say(n);
  await s.store.flush();
  return { ...s, ...counter, say };
}

test("a message in a long conversation does not write the whole of its document", async (t) => {
  await using s = await conversation(t, 2000);
  const { say, store, engine, written, shown } = s;
  const before = written();
  for (let n = 2000; n < 2100; n += 1) {
    await say(n);
    // The quiet after each message.
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const perMessage = (written() - before) / 100;
  assert.ok(perMessage < 30_000, `${perMessage} bytes are written per message`);
  await store.flush();
  assert.equal(shown(), await engine.lastSequence(key));
  assert.equal((await store.document(key)).messages.length, 2100);
  assert.equal((await store.list())[0]?.messageCount, 2100, "the list shows all of it at once");
});

test("a document that waits is written after some seconds, without another message", async (t) => {
  await using s = await conversation(t, 200);
  const { say, engine, shown } = s;
  await say(200);
  await until("the document shows it", async () => shown() === (await engine.lastSequence(key)), 10_000);
});

test("a short conversation's document is written whenever the chat is quiet", async (t) => {
  await using s = await conversation(t, 20);
  const { say, engine, shown } = s;
  for (let n = 20; n < 25; n += 1) {
    await say(n);
    await until("the document shows it", async () => shown() === (await engine.lastSequence(key)), 500);
  }
});
