import assert from "node:assert/strict";
import { test } from "node:test";
import { waitForTurn } from "../../../src/api/turns/wait-for-turn.js";
import { createSystemBus } from "../../../src/events/bus/system-bus.js";
import { silentLog } from "../../../src/log.js";
import { inbound, queued, tempFolder, titled } from "../../support/engine/engine-kit.js";
import { openStore } from "../../support/engine/histories/session-store.js";
import { createMemoryGateway } from "../../support/worlds/http/http-api.js";

const key = "telegram:42";
const gone = { from: "active", to: "deleted", reason: "client" };
const never = new AbortController().signal;

test("who waits for a message that came after the deletion of its chat hears how its turn ends, and others that it is gone", async (t) => {
  const gateway = createMemoryGateway();
  const bus = gateway.bus.asConsumer();
  await using opened = await openStore(tempFolder(t), { bus });
  const { engine, store: sessions } = opened;
  await engine.accept(inbound("msg_new", key), { events: [queued("msg_new")] });
  const ended = waitForTurn({ bus, sessions, engine }, key, "msg_new", never);
  const over: string[] = [];
  ended.catch((error: unknown) => over.push(String(error)));
  // Another node has deleted the life before, and its word comes late.
  gateway.tell(key, "session_state_changed", gone);
  await engine.append(key, [titled("later")], { durable: true });
  assert.deepEqual(over, []);
  await engine.deleteSession(key);
  gateway.tell(key, "session_state_changed", gone);
  await assert.rejects(ended, /telegram:42 was deleted/);
});

test("a message that another node has taken is waited for, though this one has its chat in memory as it was before", async (t) => {
  // As on a node to which no event of the other has come.
  const deaf = createSystemBus({ log: silentLog });
  await using opened = await openStore(tempFolder(t), { bus: deaf.asConsumer() });
  const { engine, store: sessions } = opened;
  await sessions.open(key);
  await engine.accept(inbound("msg_new", key), { events: [queued("msg_new")] });
  const stop = new AbortController();
  const ended = waitForTurn({ bus: deaf.asConsumer(), sessions, engine }, key, "msg_new", stop.signal);
  await assert.rejects(
    waitForTurn({ bus: deaf.asConsumer(), sessions, engine }, key, "msg_other", never),
    /no message/,
  );
  stop.abort(new Error("it waits"));
  await assert.rejects(ended, /it waits/);
  deaf.destroy();
});
