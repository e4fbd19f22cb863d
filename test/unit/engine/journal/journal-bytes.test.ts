import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fromCompact, toCompact } from "../../../../src/engine/embedded/journal/compact.js";
import { decodeLine, encodeLine } from "../../../../src/engine/embedded/journal/line.js";
import {
  encodeTransaction,
  type Operation,
  parseJournalLine,
} from "../../../../src/engine/embedded/journal/operations.js";
import type { StoredEvent } from "../../../../src/events/event.js";
import { inbound, openIn, sessionOf, tempFolder } from "../../../support/engine/engine-kit.js";
import { createRandom } from "../../../support/random.js";

function eventOf(seq: number, payload: object, more: object = {}): Operation {
  const event = {
    schema_version: "1.0",
    event_id: `evt_${String(seq).padStart(20, "0")}`,
    type: "user_message_queued",
    session_key: sessionOf,
    seq,
    timestamp: "2026-01-01T00:00:00.000Z",
    source: "channel:telegram",
    ...more,
    payload,
    metadata: { instance_id: "gw_test" },
  };
  // A journal takes any payload.
  return { o: "event", event: event as StoredEvent };
}

const awkward: readonly unknown[] = [
  "~",
  "~~~~~~~~",
  "~0",
  "~zz",
  "plain text",
  "plain text",
  "",
  "\ud800 half",
  0,
  null,
  true,
  [],
  {},
  [["plain text"], { "plain text": "~0" }],
  JSON.parse('{"__proto__": {"plain text": "plain text"}, "2": 1, "1": 2}'),
  new Date(0),
];

test("operations come back from the journal as they went in, whatever texts they hold, byte for byte", () => {
  const random = createRandom(7);
  const any = (depth: number): unknown => {
    const pick = awkward[Math.floor(random() * awkward.length)];
    if (depth === 0 || random() < 0.5) return pick;
    return random() < 0.5
      ? [any(depth - 1), any(depth - 1)]
      : { "a longer name": any(depth - 1), "~1": any(depth - 1) };
  };
  for (let round = 0; round < 500; round += 1) {
    const operations: Operation[] = [
      eventOf(1, { value: any(3) }, { turn_id: "turn_1", correlation_id: "msg_one" }),
      { o: "put", kind: "anything", id: "~0", value: any(3) },
      eventOf(2, { value: any(3) }, random() < 0.5 ? { delta_index: 1 } : { causation_id: "evt_before" }),
      { o: "ack", queue: "inbound", id: "msg_one" },
    ];
    const line = JSON.stringify(operations);
    const restored = fromCompact(JSON.parse(JSON.stringify(toCompact(operations))));
    assert.equal(JSON.stringify(restored), line);
  }
});

test("what no journal has written is not taken for operations", () => {
  for (const values of [["~0"], [["e", "evt_1"]], [["f"]], [{ o: "ack", id: "~5" }]])
    assert.equal(fromCompact(values), undefined, JSON.stringify(values));
});

test("a text occurs once in a transaction, and an event's names are not in it", () => {
  const content = "Something that somebody has said at length. ".repeat(20);
  const operations: Operation[] = [
    eventOf(1, { content }),
    { o: "work", work: inbound("msg_1", sessionOf), at: 1 },
    eventOf(2, { content }),
  ];
  const line = encodeTransaction(1, 0, operations);
  assert.equal(line.split(content).length, 2);
  assert.ok(!line.includes("session_key") && !line.includes("event_id"));
});

test("a journal of the first format is read and gone on with", async (t) => {
  const home = tempFolder(t);
  mkdirSync(join(home, "journal"));
  const event = eventOf(1, { message_id: "msg_1", content: [] });
  const lines = [
    { format: "maxclaw-journal", v: 1, segment: 1, tx: 0 },
    { checkpoint: [{ o: "cursor", name: "telegram:offset", value: "7" }] },
    { checkpointEnd: 1 },
    { tx: 1, s: 0, ops: [event, { o: "work", work: inbound("msg_1", sessionOf), at: 1 }] },
  ];
  writeFileSync(
    join(home, "journal", "00000001.log"),
    Buffer.concat(lines.map((line) => encodeLine(JSON.stringify(line)))),
  );
  for (let start = 0; start < 2; start += 1) {
    const { engine } = await openIn(home);
    assert.equal(await engine.cursor("telegram:offset"), "7");
    assert.deepEqual(
      (await engine.waiting("inbound", sessionOf)).map(({ id }) => id),
      ["msg_1"],
    );
    const { events } = await engine.events(sessionOf, { afterSeq: 0, limit: 10 });
    assert.deepEqual(
      events.map(({ seq }) => seq),
      [1],
    );
    await engine[Symbol.asyncDispose]();
  }
});

test("a damaged reference makes a line of the journal unknown, and changes nothing", () => {
  const line = encodeLine(encodeTransaction(1, 0, [{ o: "ack", queue: "inbound", id: "~x" }]));
  const known = parseJournalLine(decodeLine(line));
  assert.deepEqual(known?.kind === "transaction" ? known.ops : undefined, [{ o: "ack", queue: "inbound", id: "~x" }]);
  assert.equal(parseJournalLine({ tx: 1, s: 0, c: [{ o: "ack", queue: "inbound", id: "~3" }] }), undefined);
});
