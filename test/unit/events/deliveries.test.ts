import assert from "node:assert/strict";
import { test } from "node:test";
import { openSessionFeed } from "../../../src/api/sessions/feed.js";
import { waitForTurn } from "../../../src/api/sessions/wait-for-turn.js";
import type { GatewayEvent } from "../../../src/events/event.js";
import type { EventConsumer } from "../../../src/events/system-bus.js";
import { tempFolder } from "../../support/engine/engine-kit.js";
import { openStore } from "../../support/engine/histories/session-store.js";
import { createMemoryGateway } from "../../support/worlds/http/http-api.js";

const key = "webui:1";

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
