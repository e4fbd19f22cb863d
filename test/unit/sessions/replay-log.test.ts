import assert from "node:assert/strict";
import { test } from "node:test";
import { readLog } from "../../../src/api/turns/replay-log.js";
import { RequestError } from "../../../src/errors.js";
import type { EventDraft, StoredEvent } from "../../../src/events/event.js";
import { tempFolder, titled } from "../../support/engine/engine-kit.js";
import { openStore } from "../../support/engine/histories/session-store.js";

const key = "webui:one";
const turnId = "turn_0123456789abcdef0123";

function inTurn(title: string): EventDraft {
  return { ...titled(title), turn_id: turnId };
}

test("a log of more bytes than may be read is not read on, and neither is one that nobody waits for", async (t) => {
  await using opened = await openStore(tempFolder(t));
  const { engine } = opened;
  for (let n = 0; n < 100; n += 1) await engine.append(key, [inTurn("x".repeat(1000))], { durable: false });
  assert.equal((await readLog(engine, { key, turnId })).length, 100);
  let pages = 0;
  const counted = {
    events: (...parts: Parameters<typeof engine.events>) => {
      pages += 1;
      return engine.events(...parts);
    },
  };
  await assert.rejects(
    readLog(counted, { key, turnId, maxBytes: 10_000 }),
    (error) => error instanceof RequestError && error.status === 409 && /too long .*maxclaw replay/.test(error.message),
  );
  assert.equal(pages, 1);
  const gone = new AbortController();
  gone.abort(new Error("The client has gone"));
  await assert.rejects(readLog(counted, { key, turnId, signal: gone.signal }), /The client has gone/);
  assert.equal(pages, 1);
});

test("long messages are read a few at a time, and others come to their turn between the pages", async (t) => {
  await using opened = await openStore(tempFolder(t));
  const [event] = await opened.engine.append(key, [inTurn("x".repeat(200_000))], { durable: false });
  assert.ok(event);
  const limits: number[] = [];
  let others = 0;
  const engine = {
    async events(_key: string, { limit }: { readonly afterSeq: number; readonly limit: number }) {
      if (limits.length === 0) setImmediate(() => (others += 1));
      else assert.equal(others, 1);
      limits.push(limit);
      return { events: Array<StoredEvent>(limit).fill(event), hasMore: limits.length < 5 };
    },
  };
  await readLog(engine, { key, turnId });
  assert.deepEqual(limits, [20, 10, 10, 10, 10]);
});
