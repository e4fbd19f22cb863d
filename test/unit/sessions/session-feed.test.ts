import assert from "node:assert/strict";
import { test } from "node:test";
import { type FeedSources, openSessionFeed } from "../../../src/api/sessions/feed.js";
import { noUsage } from "../../../src/events/content.js";
import type { GatewayEvent, StoredEvent } from "../../../src/events/event.js";
import { openStreamSnapshots } from "../../../src/events/folds/stream-snapshots.js";
import { keepLog } from "../../support/log.js";
import { createMemoryGateway, type MemoryGateway } from "../../support/worlds/http/http-api.js";
import { digest } from "../../support/worlds/http/http-clients.js";
import { until } from "../../support/worlds/http/http-server.js";

const key = "webui:1";

function sourcesOf(gateway: MemoryGateway, changes: Partial<FeedSources> = {}): FeedSources {
  return {
    bus: gateway.bus.asConsumer(),
    snapshots: gateway.snapshots,
    systemKey: "system:n1",
    lastSequence: async (k) => gateway.logs.get(k)?.length ?? 0,
    events: async (k, { afterSeq, limit }) => {
      await new Promise(setImmediate);
      const after = (gateway.logs.get(k) ?? []).filter((event) => event.seq > afterSeq);
      return { events: after.slice(0, limit), hasMore: after.length > limit };
    },
    ...changes,
  };
}

function title(gateway: MemoryGateway, text: string, sessionKey = key): GatewayEvent {
  return gateway.tell(sessionKey, "session_title_generated", { title: text, generated_by: "user" });
}

const seqsOf = (events: readonly GatewayEvent[]): readonly (number | null)[] => events.map((event) => event.seq);
const typesOf = (events: readonly GatewayEvent[]): readonly string[] => events.map((event) => event.type);

test("a feed tells the past in pages and then goes on live, also when events come while it reads", async () => {
  const gateway = createMemoryGateway();
  for (let i = 1; i <= 1203; i++) title(gateway, `${i}`);
  const reads: number[] = [];
  const sources = sourcesOf(gateway);
  const told: GatewayEvent[] = [];
  const feed = openSessionFeed(
    {
      ...sources,
      events: async (k, range) => {
        reads.push(range.afterSeq);
        title(gateway, "before the read");
        const page = await sources.events(k, range);
        title(gateway, "after the read");
        return page;
      },
    },
    key,
    { fromSequence: 3 },
    (event) => void told.push(event),
  );
  assert.equal(told.length, 0, "nothing is told before the caller has its subscription");
  await feed.caughtUp;
  title(gateway, "live");
  const last = gateway.logs.get(key)?.length ?? 0;
  assert.ok(last >= 1208 && reads.length >= 3);
  assert.deepEqual(
    seqsOf(told),
    Array.from({ length: last - 3 }, (_, i) => i + 4),
  );
  feed.close();
  title(gateway, "after the end");
  assert.equal(told.length, last - 3);
});

test("a feed says where it joined, and tells nothing before it may", async () => {
  const gateway = createMemoryGateway();
  for (const text of ["1", "2", "3"]) title(gateway, text);
  const told: GatewayEvent[] = [];
  let release: () => void = () => {};
  const after = new Promise<void>((resolve) => {
    release = resolve;
  });
  const listener = (event: GatewayEvent): void => void told.push(event);
  const behind = openSessionFeed(sourcesOf(gateway), key, { fromSequence: 1, after }, listener);
  const everywhere: GatewayEvent[] = [];
  const all = openSessionFeed(sourcesOf(gateway), "*", { after }, (event) => void everywhere.push(event));
  const closed = openSessionFeed(sourcesOf(gateway), "*", { after }, () => assert.fail("it was closed"));
  assert.deepEqual([await behind.joinedAt, await all.joinedAt], [3, undefined]);
  title(gateway, "4");
  await new Promise(setImmediate);
  assert.deepEqual([told.length, everywhere.length], [0, 0]);
  closed.close();
  release();
  await Promise.all([behind.caughtUp, all.caughtUp]);
  title(gateway, "5");
  assert.deepEqual(seqsOf(told), [2, 3, 4, 5]);
  assert.deepEqual(seqsOf(everywhere), [4, 5]);
  assert.equal(await openSessionFeed(sourcesOf(gateway), key, { fromSequence: 40 }, listener).joinedAt, 5);
});

test("without fromSequence a feed begins now", async () => {
  const gateway = createMemoryGateway();
  title(gateway, "old");
  const told: GatewayEvent[] = [];
  const feed = openSessionFeed(sourcesOf(gateway), key, {}, (event) => void told.push(event));
  title(gateway, "new");
  await feed.caughtUp;
  title(gateway, "newer");
  assert.deepEqual(seqsOf(told), [2, 3]);
});

/** `waits`: the second feed has caught up before the turn goes on. */
async function rejoinAt(cut: number, missed: number, waits: boolean) {
  const gateway = createMemoryGateway();
  const whole: GatewayEvent[] = [];
  const told: GatewayEvent[] = [];
  openSessionFeed(sourcesOf(gateway), key, { fromSequence: 0 }, (event) => void whole.push(event));
  const first = openSessionFeed(sourcesOf(gateway), key, { fromSequence: 0 }, (event) => void told.push(event));
  await first.caughtUp;
  const steps = gateway.turn(key, "msg_a");
  const rejoin = Math.min(cut + missed, steps.length - 1);
  for (const [at, step] of steps.entries()) {
    if (at === cut) first.close();
    if (at === rejoin) {
      const fromSequence = told.findLast((event) => event.seq !== null)?.seq ?? 0;
      const second = openSessionFeed(sourcesOf(gateway), key, { fromSequence }, (event) => void told.push(event));
      if (waits) await second.caughtUp;
    }
    step();
  }
  await until(() => told.at(-1)?.type === "turn_execution_complete", `the end of the turn cut at ${cut}`);
  return { want: digest(whole), got: digest(told) };
}

test("joining again at any frame of a turn ends with the same stored events and the same text", async () => {
  const frames = createMemoryGateway().turn(key, "msg_a").length;
  for (let cut = 0; cut < frames; cut++) {
    const { want, got } = await rejoinAt(cut, 0, true);
    assert.equal(want.stored.length, 9);
    assert.deepEqual(got, want, `cut at frame ${cut}`);
  }
});

test("joining again later, or while the turn races on, leaves no stored event out and no hole in any text", async () => {
  const frames = createMemoryGateway().turn(key, "msg_a").length;
  for (let cut = 0; cut < frames; cut++) {
    for (const [missed, waits] of [
      [3, true],
      [0, false],
      [3, false],
    ] as const) {
      const { want, got } = await rejoinAt(cut, missed, waits);
      assert.deepEqual(got.stored, want.stored, `cut at frame ${cut}, ${missed} missed`);
      // Where the stored answer came while the client was away, the rest of the text came with that.
      for (const [id, text] of Object.entries(got.texts))
        assert.ok(want.texts[id]?.startsWith(text), `"${text}" has a hole, cut at frame ${cut}, ${missed} missed`);
    }
  }
});

test("who joins in the middle of an answer gets its start and one delta with the text so far", async () => {
  const gateway = createMemoryGateway();
  const steps = gateway.turn(key, "msg_a");
  for (const step of steps.slice(0, 10)) step();
  const told: GatewayEvent[] = [];
  const feed = openSessionFeed(sourcesOf(gateway), key, { fromSequence: 3 }, (event) => void told.push(event));
  await feed.caughtUp;
  assert.deepEqual(typesOf(told), [
    "message_stream_start",
    "thinking_delta",
    "text_delta",
    "tool_call_start",
    "tool_input_delta",
  ]);
  const delta = told[2];
  assert.ok(delta?.type === "text_delta" && delta.payload.text === "Let me look." && delta.delta_index === 2);
  assert.ok(told.every((event) => event.seq === null && Object.isFrozen(event)));
  for (const step of steps.slice(10, 13)) step();
  assert.deepEqual(typesOf(told).slice(5), ["tool_input_delta", "message_stream_end", "assistant_message"]);
});

test("an answer that was read from the log is not told again by a snapshot that lags behind it", async () => {
  const gateway = createMemoryGateway();
  const steps = gateway.turn(key, "msg_a");
  for (const step of steps.slice(0, 12)) step();
  const snapshot = gateway.snapshots.snapshotOf(key);
  assert.equal(snapshot?.events.at(-1)?.type, "message_stream_end");
  steps[12]?.();
  assert.equal(gateway.snapshots.snapshotOf(key), undefined, "the stored answer frees the text");
  const told: GatewayEvent[] = [];
  const lagging = { snapshotOf: () => snapshot, [Symbol.dispose]() {} };
  const feed = openSessionFeed(
    sourcesOf(gateway, { snapshots: lagging }),
    key,
    { fromSequence: 0 },
    (event) => void told.push(event),
  );
  await feed.caughtUp;
  assert.deepEqual(typesOf(told), [
    "turn_execution_start",
    "user_message",
    "turn_iteration_start",
    "assistant_message",
  ]);
});

test("internal events, other sessions and types that were not asked for stay out", async () => {
  const gateway = createMemoryGateway();
  const all: GatewayEvent[] = [];
  const titles: GatewayEvent[] = [];
  openSessionFeed(sourcesOf(gateway), key, {}, (event) => void all.push(event));
  openSessionFeed(sourcesOf(gateway), key, { types: ["session_title_generated"] }, (event) => void titles.push(event));
  await new Promise(setImmediate);
  for (const step of gateway.turn(key, "msg_a")) step();
  title(gateway, "mine");
  title(gateway, "foreign", "webui:2");
  assert.ok(typesOf(all).includes("text_delta") && typesOf(all).at(-1) === "session_title_generated");
  assert.ok(!typesOf(all).includes("llm_retry_scheduled"));
  assert.ok(all.every((event) => event.session_key === key));
  assert.deepEqual(typesOf(titles), ["session_title_generated"]);
});

test("* tells all chats live, system tells the gateway's own events and can replay them", async () => {
  const gateway = createMemoryGateway();
  const state = (): void =>
    void gateway.tell("system:n1", "gateway_state_changed", { from: "starting", to: "ready", version: "1" });
  state();
  const [chats, system, replayed]: GatewayEvent[][] = [[], [], []];
  const sources = sourcesOf(gateway);
  openSessionFeed(sources, "*", { fromSequence: 0 }, (event) => void chats?.push(event));
  openSessionFeed(sources, "system", {}, (event) => void system?.push(event));
  await openSessionFeed(sources, "system", { fromSequence: 0 }, (event) => void replayed?.push(event)).caughtUp;
  title(gateway, "a", "webui:1");
  title(gateway, "b", "telegram:2");
  state();
  assert.deepEqual(
    chats?.map((event) => event.session_key),
    ["webui:1", "telegram:2"],
  );
  assert.deepEqual(seqsOf(system ?? []), [2]);
  assert.deepEqual(seqsOf(replayed ?? []), [1, 2]);
});

test("a listener that throws or rejects is logged and hears the next event", async () => {
  const gateway = createMemoryGateway();
  const log = keepLog();
  const told: (number | null)[] = [];
  const feed = openSessionFeed(sourcesOf(gateway, { log }), key, { fromSequence: 0 }, (event) => {
    told.push(event.seq);
    if (event.seq === 1) throw new Error("first");
    return Promise.reject(new Error("later"));
  });
  await feed.caughtUp;
  title(gateway, "1");
  title(gateway, "2");
  title(gateway, "3");
  await until(() => log.lines.length === 3, "three log lines");
  assert.deepEqual(told, [1, 2, 3]);
});

test("an event that was stored but never published is read from the log before the next one is told", async () => {
  const gateway = createMemoryGateway();
  const log = keepLog();
  const told: GatewayEvent[] = [];
  let failures = 0;
  const sources = sourcesOf(gateway, { log });
  const feed = openSessionFeed(
    {
      ...sources,
      events: async (k, range) => {
        if (range.afterSeq > 0 && failures++ === 0) throw new Error("disk");
        return sources.events(k, range);
      },
    },
    key,
    { fromSequence: 0 },
    (event) => void told.push(event),
  );
  await feed.caughtUp;
  const first = title(gateway, "published");
  const kept = gateway.logs.get(key) as StoredEvent[];
  kept.push({ ...first, seq: 2, event_id: "evt_2" } as StoredEvent);
  title(gateway, "three");
  await until(() => told.length === 3, "the missing event");
  assert.deepEqual(seqsOf(told), [1, 2, 3]);
  assert.equal(failures, 2, "the failed read was tried again");
});

test("a client that is ahead of the log, as after a power cut, still gets what comes", async () => {
  const gateway = createMemoryGateway();
  title(gateway, "1");
  const told: GatewayEvent[] = [];
  const feed = openSessionFeed(sourcesOf(gateway), key, { fromSequence: 40 }, (event) => void told.push(event));
  await feed.caughtUp;
  title(gateway, "2");
  assert.deepEqual(seqsOf(told), [2]);
});

test("a past that cannot be read rejects caughtUp and closes the feed", async () => {
  const gateway = createMemoryGateway();
  title(gateway, "0");
  const told: GatewayEvent[] = [];
  const broken = sourcesOf(gateway, { events: () => Promise.reject(new Error("disk")) });
  const feed = openSessionFeed(broken, key, { fromSequence: 0 }, (event) => void told.push(event));
  await assert.rejects(feed.caughtUp, /disk/);
  title(gateway, "1");
  assert.equal(told.length, 0);
});

test("a slow listener holds up its own replay only, and loses nothing while many events come", async () => {
  const gateway = createMemoryGateway();
  for (let i = 0; i < 5; i++) title(gateway, `${i}`);
  const told: GatewayEvent[] = [];
  let release: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const feed = openSessionFeed(sourcesOf(gateway), key, { fromSequence: 0 }, (event) => {
    told.push(event);
    return told.length === 3 ? gate : undefined;
  });
  await until(() => told.length === 3, "the third event");
  for (let i = 0; i < 2500; i++) title(gateway, "more");
  assert.equal(told.length, 3);
  release();
  await feed.caughtUp;
  assert.deepEqual(
    seqsOf(told),
    Array.from({ length: 2505 }, (_, i) => i + 1),
  );
});

test("snapshots are bounded: one that grows too long or is one too many is dropped", () => {
  const gateway = createMemoryGateway();
  using small = openStreamSnapshots(gateway.bus.asConsumer(), { maxChars: 10, maxSessions: 2 });
  const begin = (k: string): void =>
    void gateway.tell(k, "message_stream_start", { message_id: k, model: "m", iteration: 1 });
  for (const k of ["webui:1", "webui:2", "webui:3"]) begin(k);
  assert.equal(small.snapshotOf("webui:1"), undefined);
  assert.ok(small.snapshotOf("webui:2") && small.snapshotOf("webui:3"));
  gateway.tell("webui:3", "text_delta", { message_id: "webui:3", text: "12345678901" });
  assert.equal(small.snapshotOf("webui:3"), undefined);
});

test("text of a stream that was never ended is not offered after its turn and is freed after the given time", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const gateway = createMemoryGateway();
  using snapshots = openStreamSnapshots(gateway.bus.asConsumer(), { ttlMs: 300_000 });
  gateway.tell(key, "message_stream_start", { message_id: "msg_1", model: "m", iteration: 1 });
  gateway.tell(key, "text_delta", { message_id: "msg_other", text: "not of this answer" });
  gateway.tell(key, "text_delta", { message_id: "msg_1", text: "so far" });
  const delta = snapshots.snapshotOf(key)?.events[1];
  assert.ok(delta?.type === "text_delta" && delta.payload.text === "so far");
  gateway.tell(key, "turn_execution_failed", {
    message_ids: [],
    code: "UNKNOWN",
    category: "runtime",
    message: "no",
    recoverable: false,
    usage: noUsage,
    duration_ms: 1,
  });
  assert.equal(snapshots.snapshotOf(key), undefined);
  t.mock.timers.tick(300_000);
  gateway.tell(key, "message_stream_start", { message_id: "msg_2", model: "m", iteration: 1 });
  assert.equal(snapshots.snapshotOf(key)?.messageId, "msg_2");
});
