import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { createClient } from "../../../../src/client/node.js";
import type { GatewayEvent } from "../../../../src/events/event.js";
import { Releases } from "../../../../src/util/async/releases.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { type CutPlan, openCuttingProxy } from "../../../support/fakes/network/cutting-proxy.js";
import { until } from "../../../support/fakes/web-frames.js";
import { followEventSource } from "../../../support/worlds/channels/event-source.js";
import { openAIConfig, startGateway } from "../../../support/worlds/gateway.js";
import type { ScriptedAnswer } from "../../../support/worlds/model-script.js";

const key = "webui:cuts";
const limitMs = 60_000;
// Without one the gateway answers under its own port only, which a proxy does not have.
const token = "a-token-of-the-test";
const words = (text: string): readonly string[] => text.split(/(?<= )/);
const chunkDelayMs = 4;
/** A turn with everything in it: a call that breaks off and is made again, thinking, text, two tools, an answer. */
const script: readonly ScriptedAnswer[] = [
  { thinking: "Well, ", text: words("This answer never comes to its end because"), cutAfter: 7, chunkDelayMs },
  {
    thinking: words("I look into both files first. "),
    text: words("Let me look into them. "),
    toolCalls: [
      { id: "call_a", name: "read_file", jsonPieces: ['{"pa', 'th":', '"/a.txt"}'] },
      { id: "call_b", name: "list_dir", jsonPieces: ['{"path"', ':"."}'] },
    ],
    chunkDelayMs,
  },
  { text: words("One says 7, the other lists – wörd for wörd – nothing at all, which is fine by me."), chunkDelayMs },
];

/** What a client knows in the end: the stored events, and what the deltas of each message and tool call make. */
function fold(events: readonly GatewayEvent[]) {
  const stored = events.flatMap((event) =>
    event.seq === null ? [] : [`${event.seq} ${event.type} ${event.event_id}`],
  );
  const joined = new Map<string, string>();
  const starts = new Map<string, number>();
  const messageOf = new Map<string, string>();
  const grow = (id: string, text: string): unknown => joined.set(id, (joined.get(id) ?? "") + text);
  for (const event of events) {
    if (event.type === "message_stream_start") {
      const { message_id } = event.payload;
      starts.set(message_id, (starts.get(message_id) ?? 0) + 1);
      for (const id of joined.keys())
        if (id.endsWith(message_id) || messageOf.get(id) === message_id) joined.delete(id);
    } else if (event.type === "tool_call_start") messageOf.set(event.payload.tool_call_id, event.payload.message_id);
    else if (event.type === "text_delta") grow(`text of ${event.payload.message_id}`, event.payload.text);
    else if (event.type === "thinking_delta") grow(`thinking of ${event.payload.message_id}`, event.payload.text);
    else if (event.type === "tool_input_delta") grow(event.payload.tool_call_id, event.payload.partial_json);
  }
  const restarted = [...starts].flatMap(([id, count]) => (count > 1 ? [id] : []));
  return { stored, joined, restarted };
}

function assertSame(events: readonly GatewayEvent[], whole: readonly GatewayEvent[], who: string): void {
  const got = fold(events);
  const want = fold(whole);
  assert.deepEqual(got.stored, want.stored, who);
  // Where the stored message came while the client was away, the rest of the text came with it; else there is no hole.
  for (const [id, text] of got.joined)
    assert.ok(want.joined.get(id)?.startsWith(text), `${who}: "${text}" is not how ${id} begins`);
  // Who came back in the middle of an answer that was finished has all of it.
  const finished = new Set(whole.flatMap((e) => (e.type === "assistant_message" ? [e.payload.message_id] : [])));
  for (const id of got.restarted.filter((message) => finished.has(message)))
    assert.equal(got.joined.get(`text of ${id}`), want.joined.get(`text of ${id}`), `${who}: the text of ${id}`);
}

const isOver = (events: readonly GatewayEvent[]): boolean => events.at(-1)?.type === "turn_execution_complete";

test("a client that is cut at any frame of a turn, or at every one, ends with what an uncut one has", async (t) => {
  await using model = await startFakeOpenAI({ answer: script });
  await using running = await startGateway({ config: openAIConfig(model.apiBase, { gateway: { token } }) });
  await writeFile(join(running.workspace, "a.txt"), "7");
  const { address } = running.gateway;
  await using undo = new Releases();

  const overSocket = async (plan: CutPlan) => {
    const proxy = undo.use(await openCuttingProxy(`http://${address}`, plan));
    const client = createClient({ url: proxy.url, token, timing: { retryMinMs: 10, retryMaxMs: 20 } });
    undo.defer(() => client.close());
    const events: GatewayEvent[] = [];
    client.subscribe(key, (event) => events.push(event), { fromSequence: 0 });
    await new Promise<void>((resolve) => client.onMessage(() => resolve()));
    return { proxy, events };
  };
  const overStream = async (plan: CutPlan) => {
    const proxy = undo.use(await openCuttingProxy(`http://${address}`, plan));
    const path = `/api/sessions/${encodeURIComponent(key)}/stream?from_sequence=0&token=${token}`;
    const source = followEventSource(proxy.url + path);
    undo.defer(() => source.close());
    await until(() => source.connections > 0, limitMs);
    return { proxy, events: source.events };
  };
  const never: CutPlan = () => undefined;
  const onceAfter =
    (frames: number): CutPlan =>
    (connection) =>
      connection === 0 ? frames : undefined;
  const places = Array.from({ length: 84 }, (_, frames) => frames);

  const whole = await overSocket(never);
  const wholeStream = await overStream(never);
  // One frame is the answer to the subscription.
  const sockets = await Promise.all(places.map((frames) => overSocket(onceAfter(frames + 1))));
  const streams = await Promise.all(places.map((frames) => overStream(onceAfter(frames))));
  const restless = await Promise.all([overSocket(() => 2), overStream(() => 1)]);

  await running.post("what is in a.txt?", { key });
  const everybody = [whole, wholeStream, ...sockets, ...streams, ...restless];
  await until(() => everybody.every(({ events }) => isOver(events)), limitMs);

  const frames = whole.events.length;
  t.diagnostic(`${frames} frames in the turn, ${everybody.reduce((sum, { proxy }) => sum + proxy.cuts, 0)} cuts`);
  assert.ok(frames > 60 && frames < places.length, `each of the ${frames} frames was a place to cut`);
  assert.deepEqual(wholeStream.events, whole.events, "both wires tell the same");
  assert.deepEqual(
    whole.events.flatMap(({ type }) => (type === "message_stream_start" ? [type] : [])).length,
    3,
    "the first call was abandoned",
  );
  assert.deepEqual(fold(whole.events).stored, fold(await running.events(key)).stored);
  for (const [frames, { events, proxy }] of sockets.entries()) {
    assertSame(events, whole.events, `WebSocket, cut after ${frames} events`);
    assert.equal(proxy.cuts, frames < whole.events.length ? 1 : 0);
  }
  for (const [frames, { events }] of streams.entries())
    assertSame(events, whole.events, `event stream, cut after ${frames} events`);
  for (const { events, proxy } of restless) {
    assert.ok(proxy.cuts > 20, `${proxy.cuts} cuts`);
    assert.deepEqual(fold(events).stored, fold(whole.events).stored, "cut at every frame");
  }
});
