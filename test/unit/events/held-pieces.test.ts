import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { TurnLog } from "../../../src/agent/turn/turn-log.js";
import { openSessionFeed } from "../../../src/api/sessions/feed.js";
import { openEmbeddedEngine } from "../../../src/engine/embedded/open.js";
import type { Delivery } from "../../../src/engine/engine.js";
import { HeldPieces } from "../../../src/events/bus/held-pieces.js";
import { createSystemBus } from "../../../src/events/bus/system-bus.js";
import { noUsage } from "../../../src/events/content.js";
import type { GatewayEvent } from "../../../src/events/event.js";
import { openStreamSnapshots } from "../../../src/events/folds/stream-snapshots.js";
import type { AnswerChunk, MachineInput } from "../../../src/events/machines/input.js";
import { createMachines } from "../../../src/events/machines/run-machines.js";
import { silentLog } from "../../../src/log.js";
import { createSessionFiles } from "../../../src/sessions/file-names.js";
import { inbound, queued, tempFolder } from "../../support/engine/engine-kit.js";

const key = "telegram:42";
const gone = new DOMException("enough", "AbortError");

const chunks: readonly AnswerChunk[] = [
  { kind: "thinking", text: "Hm, " },
  { kind: "thinking", text: "let me see. " },
  { kind: "text", text: "I " },
  { kind: "text", text: "look " },
  { kind: "text", text: "there." },
  { kind: "tool_call", id: "call_1", name: "read_file" },
  { kind: "tool_call", id: "call_2", name: "read_file" },
  { kind: "tool_input", id: "call_1", json: '{"path":' },
  { kind: "tool_input", id: "call_2", json: '{"path":"b' },
  { kind: "tool_input", id: "call_1", json: '"a"' },
  { kind: "tool_input", id: "call_1", json: "}" },
  { kind: "tool_input", id: "call_2", json: '"}' },
  { kind: "end", stopReason: "tool_use", usage: noUsage },
];
/** What each part of the answer reads in the end. */
const whole = {
  thinking_delta: "Hm, let me see. ",
  text_delta: "I look there.",
  call_1: '{"path":"a"}',
  call_2: '{"path":"b"}',
};

interface Streaming {
  readonly delivery: Delivery<"inbound">;
  readonly sources: Parameters<typeof openSessionFeed>[0];
  /** Everything that crossed the bus, by somebody who does not make a difference. */
  readonly crossed: readonly GatewayEvent[];
  feed(input: MachineInput): Promise<void>;
  accept(id: string): Promise<unknown>;
}

/** A turn on the real engine, whose answer is streamed as `work` says. */
async function streaming(t: TestContext, work: (parts: Streaming) => Promise<void>): Promise<void> {
  const home = tempFolder(t);
  const bus = createSystemBus({ log: silentLog });
  const files = createSessionFiles(home);
  await using engine = await openEmbeddedEngine({
    home,
    instanceId: "gw_test",
    log: silentLog,
    publish: bus.asProducer().emit,
    logs: { pathOf: (session) => files.logPath(session) },
  });
  const consumer = bus.asConsumer();
  using snapshots = openStreamSnapshots(consumer);
  const crossed: GatewayEvent[] = [];
  consumer.onAny((event) => void crossed.push(event), { isPatient: true });
  const pieces = new HeldPieces(bus.asProducer());
  const accept = (id: string) => engine.accept(inbound(id, key), { events: [queued(id)] });
  await accept("m1");
  const stop = new AbortController();
  let failure: unknown;
  const handle = async (delivery: Delivery<"inbound">): Promise<void> => {
    const identity = { turnId: "turn_1", agentId: "agent_1", correlationId: "m1", cause: undefined };
    const log = new TurnLog({ delivery, identity, pieces, persistDetail: true, persistThoughts: true });
    const machines = createMachines({ log: silentLog });
    const feed = (input: MachineInput): Promise<void> => log.writeOutputs(machines.feed(input));
    const sources = {
      bus: consumer,
      snapshots,
      systemKey: "system:n1",
      events: (session: string, range: { readonly afterSeq: number; readonly limit: number }) =>
        engine.events(session, range),
      lastSequence: (session: string) => engine.lastSequence(session),
    };
    await feed({ kind: "turn_started", turnId: "turn_1", messageIds: ["m1"], attempt: 1, queuedMs: 0 });
    await feed({ kind: "stream_started", messageId: "msg_1", model: "m", iteration: 1 });
    await work({ delivery, sources, crossed, feed, accept });
  };
  await engine
    .consume(
      "inbound",
      { parallel: 1 },
      async (delivery) => {
        await handle(delivery).catch((error: unknown) => {
          failure = error;
        });
        stop.abort(gone);
        await delivery.commit({ events: [], emit: [] }).catch(() => undefined);
      },
      stop.signal,
    )
    .catch(() => undefined);
  if (failure !== undefined) throw failure;
}

/** The parts of the answer as a client puts them together. */
function joined(events: readonly GatewayEvent[]): Record<string, string> {
  const parts: Record<string, string> = {};
  const add = (part: string, text: string): void => {
    parts[part] = (parts[part] ?? "") + text;
  };
  for (const event of events) {
    if (event.type === "text_delta" || event.type === "thinking_delta") add(event.type, event.payload.text);
    if (event.type === "tool_input_delta") add(event.payload.tool_call_id, event.payload.partial_json);
  }
  return parts;
}

/** The same of the first `length` chunks. */
function begunBy(length: number): Record<string, string> {
  const parts: Record<string, string> = {};
  for (const chunk of chunks.slice(0, length)) {
    const [part, text] =
      chunk.kind === "tool_input" ? [chunk.id, chunk.json] : "text" in chunk ? [`${chunk.kind}_delta`, chunk.text] : [];
    if (part !== undefined && text !== undefined) parts[part] = (parts[part] ?? "") + text;
  }
  return parts;
}

const count = (events: readonly GatewayEvent[], type: string): number =>
  events.filter((event) => event.type === type).length;

describe("the pieces of an answer", () => {
  test("that nobody waits for cross the bus once, joined, and before what follows them", (t) =>
    streaming(t, async ({ feed, crossed }) => {
      for (let n = 0; n < 1000; n++) await feed({ kind: "chunk", chunk: { kind: "text", text: `${n} ` } });
      assert.equal(count(crossed, "text_delta"), 0);
      await feed({ kind: "chunk", chunk: { kind: "end", stopReason: "end_turn", usage: noUsage } });
      assert.equal(count(crossed, "text_delta"), 1);
      const types = crossed.map(({ type }) => type).filter((type) => type !== "agent_state_changed");
      assert.deepEqual(types.slice(-4), [
        "message_stream_start",
        "text_delta",
        "message_stream_end",
        "assistant_message",
      ]);
      const said = crossed.find(({ type }) => type === "assistant_message");
      assert.ok(said?.type === "assistant_message");
      assert.deepEqual(said.payload.content, [{ type: "text", text: joined(crossed).text_delta }]);
      assert.equal(crossed.find(({ type }) => type === "text_delta")?.delta_index, 999);
    }));

  test("are each told at once to those who follow the session", (t) =>
    streaming(t, async ({ feed, sources }) => {
      const heard: GatewayEvent[] = [];
      const follower = openSessionFeed(sources, key, {}, (event) => void heard.push(event));
      await follower.caughtUp;
      for (const chunk of chunks.slice(0, 5)) await feed({ kind: "chunk", chunk });
      const deltas = heard.filter(({ delta_index }) => delta_index !== undefined);
      assert.deepEqual(
        deltas.map(({ delta_index }) => delta_index),
        [0, 1, 2, 3, 4],
      );
      follower.close();
    }));

  for (let joins = 0; joins <= chunks.length; joins++)
    test(`are all there for who comes after ${joins} of them, once and in order, while others come and go`, (t) =>
      streaming(t, async ({ feed, sources, crossed, accept }) => {
        const heard: GatewayEvent[] = [];
        const open = (to: GatewayEvent[]) => openSessionFeed(sources, key, {}, (event) => void to.push(event));
        let passing: ReturnType<typeof open> | undefined;
        let follower: ReturnType<typeof open> | undefined;
        const others: unknown[] = [];
        for (const [n, chunk] of chunks.entries()) {
          if (n === joins) {
            await Promise.all(others.splice(0));
            follower = open(heard);
            await follower.caughtUp;
            assert.deepEqual(joined(heard), begunBy(joins), "at once, however long the next piece takes");
          }
          // Somebody else looks in for a moment; a message that arrives holds up what is told after it.
          if (n % 4 === 1) passing = open([]);
          if (n % 4 === 3) passing?.close();
          if (n % 3 === 2) others.push(accept(`m${n}-2`));
          await feed({ kind: "chunk", chunk });
        }
        follower ??= open(heard);
        await follower.caughtUp;
        await Promise.all(others);
        // What comes after the end has no stream to join.
        if (joins < chunks.length) assert.deepEqual(joined(heard), whole);
        assert.deepEqual(joined(crossed), whole);
        follower.close();
        passing?.close();
      }));

  test("are kept while others follow another session or take no pieces, and told before a newcomer listens to all", (t) =>
    streaming(t, async ({ feed, sources, crossed }) => {
      const other = openSessionFeed(sources, "telegram:43", {}, () => undefined);
      const titles = openSessionFeed(sources, key, { types: ["session_title_generated"] }, () => undefined);
      await Promise.all([other.caughtUp, titles.caughtUp]);
      for (const chunk of chunks.slice(2, 5)) await feed({ kind: "chunk", chunk });
      assert.equal(count(crossed, "text_delta"), 0);
      const all = openSessionFeed(sources, "*", {}, () => undefined);
      assert.equal(count(crossed, "text_delta"), 1, "told before the newcomer listens");
      await feed({ kind: "chunk", chunk: { kind: "text", text: "!" } });
      assert.equal(count(crossed, "text_delta"), 2);
      for (const one of [other, titles, all]) one.close();
    }));

  test("of an attempt that is over are told to nobody", (t) =>
    streaming(t, async ({ feed, sources, crossed, delivery }) => {
      await feed({ kind: "chunk", chunk: { kind: "text", text: "late" } });
      await delivery.release();
      const follower = openSessionFeed(sources, key, {}, () => undefined);
      await follower.caughtUp;
      assert.equal(count(crossed, "text_delta"), 0);
      follower.close();
    }));
});
