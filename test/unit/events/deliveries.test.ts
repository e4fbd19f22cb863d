import assert from "node:assert/strict";
import { test } from "node:test";
import { openSessionFeed } from "../../../src/api/sessions/feed.js";
import { waitForTurn } from "../../../src/api/turns/wait-for-turn.js";
import type { EventConsumer } from "../../../src/events/bus/system-bus.js";
import type { GatewayEvent } from "../../../src/events/event.js";
import { silentLog } from "../../../src/log.js";
import { createLiveAnswersReactor } from "../../../src/reactors/live-answers.js";
import { tempFolder } from "../../support/engine/engine-kit.js";
import { openStore } from "../../support/engine/histories/session-store.js";
import { createMemoryGateway } from "../../support/worlds/http/http-api.js";

const key = "webui:1";
const turnOne = { turn_id: "turn_1" };

/** The bus, and how many pieces of answers it has passed to those who listen through it, or to their filters. */
function counting(bus: EventConsumer): { readonly bus: EventConsumer; readonly pieces: () => number } {
  let pieces = 0;
  const note = (event: GatewayEvent): boolean => {
    if (event.type === "text_delta") pieces += 1;
    return true;
  };
  const counted: EventConsumer = {
    on: (types, listener, options) =>
      bus.on(types, listener, { ...options, filter: (event) => note(event) && (options?.filter?.(event) ?? true) }),
    once: (type, listener, options) => bus.once(type, listener, options),
    onAny: (listener, options) =>
      bus.onAny(listener, { ...options, filter: (event) => note(event) && (options?.filter?.(event) ?? true) }),
  };
  return { bus: counted, pieces: () => pieces };
}

test("a piece of an answer is passed to nobody who does not take pieces", async (t) => {
  const gateway = createMemoryGateway();
  const { bus, pieces } = counting(gateway.bus.asConsumer());
  await using opened = await openStore(tempFolder(t), { bus });
  const stop = new AbortController();
  const ports = { bus, sessions: opened.store, engine: opened.engine };
  const ended = waitForTurn(ports, key, "msg_1", stop.signal).catch(() => "ended");
  const { snapshots } = gateway;
  const sources = {
    bus,
    snapshots,
    systemKey: "system:n1",
    lastSequence: async () => 0,
    events: async () => ({ events: [], hasMore: false }),
  };
  const titles = { types: ["session_title_generated", "no_such_type"] };
  const feeds = [key, "*"].map((target) => openSessionFeed(sources, target, titles, () => undefined));
  await Promise.all(feeds.map(({ caughtUp }) => caughtUp));

  for (const text of ["Hel", "lo"]) gateway.tell(key, "text_delta", { message_id: "msg_2", text });
  assert.equal(pieces(), 0);

  const heard: string[] = [];
  const all = openSessionFeed(sources, key, {}, ({ type }) => void heard.push(type));
  await all.caughtUp;
  gateway.tell(key, "text_delta", { message_id: "msg_2", text: "!" });
  assert.equal(pieces(), 1, "who takes them gets each once");
  assert.deepEqual(heard, ["text_delta"]);
  for (const feed of [...feeds, all]) feed.close();
  stop.abort();
  await ended;
});

test("a piece of an answer is passed to those who follow its session, however many follow others", async (t) => {
  const gateway = createMemoryGateway();
  const { bus, pieces } = counting(gateway.bus.asConsumer());
  await using opened = await openStore(tempFolder(t), { bus });
  const stop = new AbortController();
  const { snapshots } = gateway;
  const sources = {
    bus,
    snapshots,
    systemKey: "system:n1",
    lastSequence: async () => 0,
    events: async () => ({ events: [], hasMore: false }),
  };
  const heard: string[] = [];
  const feeds = Array.from({ length: 100 }, (_, n) =>
    openSessionFeed(sources, `webui:${n}`, {}, ({ session_key }) => void heard.push(session_key)),
  );
  const ports = { bus, sessions: opened.store, engine: opened.engine };
  const ended = waitForTurn(ports, "webui:7", "msg_1", stop.signal).catch(() => "ended");
  const live = createLiveAnswersReactor({
    channels: new Map([["telegram", { liveEditMs: 1000 }]]),
    previews: { show: async () => undefined, forget: async () => undefined },
    firstPiece: async () => undefined,
    log: silentLog,
  });
  live.start(bus);
  await Promise.all(feeds.map(({ caughtUp }) => caughtUp));

  gateway.tell(key, "text_delta", { message_id: "msg_2", text: "Hello" });
  assert.deepEqual([pieces(), heard], [1, [key]]);
  for (const feed of feeds) feed.close();
  gateway.tell(key, "text_delta", { message_id: "msg_2", text: "!" });
  assert.equal(pieces(), 1, "nobody follows any more, and no chat shows growing answers");

  gateway.tell("telegram:1", "turn_execution_start", { message_ids: ["msg_3"], queued_ms: 0, attempt: 1 }, turnOne);
  gateway.tell("telegram:1", "text_delta", { message_id: "msg_4", text: "Hello" }, turnOne);
  gateway.tell("telegram:2", "text_delta", { message_id: "msg_5", text: "Hello" });
  assert.equal(pieces(), 2, "the chat that shows the answer while it grows");
  gateway.tell(
    "telegram:1",
    "turn_execution_cancelled",
    { message_ids: ["msg_3"], reason: "user_interrupt", mode: "stop" },
    turnOne,
  );
  gateway.tell("telegram:1", "text_delta", { message_id: "msg_4", text: "!" }, turnOne);
  assert.equal(pieces(), 2);
  live.stop();
  stop.abort();
  await ended;
});
