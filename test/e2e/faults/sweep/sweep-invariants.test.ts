import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { StoredEvent } from "../../../../src/events/event.js";
import { findBrokenInCluster } from "../../../sweep/cluster/cluster-invariants.js";
import { type ChatEvidence, type Evidence, repliesIn } from "../../../sweep/evidence.js";
import { checkFound } from "../../../sweep/found.js";
import { findBroken } from "../../../sweep/invariants.js";
import type { LookAtChat } from "../../../sweep/protocol.js";
import { loadEngine } from "../../../sweep/sweep.js";
import { Nursery } from "../../../sweep/world/child-process.js";
import { World } from "../../../sweep/world/world.js";

// The sweep is only worth what its eyes are: a world in which all is well is spoiled in one way after the other.
const nursery = new Nursery();
const engine = await loadEngine(new URL("../../../sweep/embedded.js", import.meta.url).href);
const good = await soundWorld();
after(() => nursery[Symbol.asyncDispose]());

/** With one life that was killed behind the effect of a tool that writes. */
async function soundWorld(): Promise<Evidence> {
  await using world = await World.open(engine, nursery);
  await world.start({ point: "tool write: done", nth: 1 });
  world.say("t1", "work");
  world.say("r1", "plain");
  await world.died();
  await world.start();
  for (const name of ["t1", "t2", "t2", "r1", "w1"] as const) {
    world.say(name, "plain");
    await world.quiet();
  }
  return await world.evidence();
}

const inChat =
  (name: string, edit: (chat: ChatEvidence) => Partial<ChatEvidence>) =>
  (evidence: Evidence): Evidence => ({
    ...evidence,
    chats: evidence.chats.map((chat) => (chat.name === name ? { ...chat, ...edit(chat) } : chat)),
  });
const inLog = (name: string, edit: (events: readonly StoredEvent[]) => readonly StoredEvent[]) =>
  inChat(name, ({ look }) => ({
    look: { ...look, events: edit(look.events), lastSequence: edit(look.events).length },
  }));
const without = (name: string, matches: (event: StoredEvent) => boolean) =>
  inLog(name, (events) => events.filter((event) => !matches(event)));
const twice = (name: string, matches: (event: StoredEvent) => boolean) =>
  inLog(name, (events) => events.flatMap((event) => (matches(event) ? [event, event] : [event])));
const isEnd = (event: StoredEvent): boolean => event.type === "turn_execution_complete";

const spoiled: readonly (readonly [what: string, spoil: (evidence: Evidence) => Evidence, told: RegExp])[] = [
  ["a message was never accepted", inChat("t2", ({ said }) => ({ said: [...said, "more"] })), /accepted once/],
  ["messages were accepted in another order", inChat("t2", ({ said }) => ({ said: said.toReversed() })), /in order/],
  ["a message was accepted twice", twice("t2", ({ type }) => type === "user_message_queued"), /accepted once/],
  ["a message has no end", without("t2", isEnd), /has 0 ends/],
  ["a message has two ends", twice("t2", isEnd), /has 2 ends/],
  ["a message is lost to the ledger", (evidence) => ({ ...evidence, ledger: new Map() }), /in the ledger/],
  ["work is left", inChat("t2", ({ look }) => ({ look: { ...look, inbound: ["msg_1"] } })), /msg_1 still waits/],
  ["a reply was not shown", inChat("t2", ({ shown }) => ({ shown: shown.slice(1) })), /not shown in its place/],
  ["replies were shown in another order", inChat("t2", ({ shown }) => ({ shown: shown.toReversed() })), /its place/],
  ["something else was shown", inChat("t2", ({ shown }) => ({ shown: [...shown, "hey"] })), /belongs nowhere/],
  ["a reply was repeated without a mark", inChat("t2", doubled), /was shown 2 times/],
  ["a reply was repeated where ids are known", inChat("r1", doubled), /was shown 2 times/],
  [
    "a client got another answer the second time",
    inChat("w1", ({ shown }) => ({ shown: [...shown, "x"] })),
    /2 answers/,
  ],
  ["a client got what the log has not", inChat("w1", () => ({ shown: ["x"] })), /answered with "x"/],
  ["a message entered twice", twice("t2", ({ type }) => type === "user_message"), /entered as/],
  ["the log has a hole", without("t2", ({ seq }) => seq === 3), /1\.\.N without gaps/],
  ["two turns ran at once", asking((one) => ({ ...one, overlaps: true })), /while another was under way/],
  ["a finished answer was asked for again", again(2), /was stored in life \d and asked for in life 2/],
  ["an answer was asked for twice", again(0), /was asked for twice/],
  ["an answer came from nowhere", (evidence) => ({ ...evidence, asked: [] }), /in which nobody asked for it/],
  ["a tool that writes ran again", runsOf("write", 2), /writes and ran 2 times/],
  ["a tool never ran", (evidence) => ({ ...evidence, runs: [] }), /has a result without a run/],
  ["a read was not run again", inLog("t1", (events) => events.map(interrupted)), /was not run again/],
  ["a call has no result", without("t1", ({ type }) => type === "tool_execution_complete"), /has 0 results/],
  ["the model was not told", asking((one) => ({ ...one, results: new Map() })), /was never told about/],
  [
    "the model was told something else",
    asking(({ results, ...one }) => ({ ...one, results: lied(results) })),
    /was told as/,
  ],
];

test("a world in which all is well has nothing broken", () => {
  assert.deepEqual(findBroken(good), []);
  assert.ok(JSON.stringify(good.chats).includes("INTERRUPTED_BY_RESTART"), "one call was interrupted");
});

for (const [what, spoil, told] of spoiled)
  test(`the sweep sees that ${what}`, () => {
    const broken = findBroken(spoil(good));
    assert.ok(
      broken.some((line) => told.test(line)),
      broken.join("\n"),
    );
  });

const spoiledFinds: readonly (readonly [
  what: string,
  spoil: (chat: LookAtChat) => Partial<LookAtChat>,
  told: RegExp,
])[] = [
  ["an acknowledged message is gone", () => ({ events: [], lastSequence: 0 }), /acknowledged to its platform/],
  ["the sequence has a hole", ({ events }) => ({ events: events.slice(1) }), /event 1 has the number 2/],
  ["the sequence goes on without events", () => ({ lastSequence: 99 }), /not at 99/],
  ["an end came without its acknowledgement", ({ events }) => ({ inbound: acceptedIds(events) }), /still waits/],
  ["an acknowledgement came without its end", ({ events }) => ({ events: endless(events) }), /neither waits nor has/],
  ["work came without its event", () => ({ inbound: ["msg_x"] }), /never told about/],
  ["a reply was sent and still waits", ({ events }) => ({ outbound: replyIds(events) }), /is settled and still waits/],
  ["a reply is gone", ({ events }) => ({ events: events.map(unsent) }), /neither waits nor is settled/],
  ["a reply came without its event", () => ({ outbound: ["turn_x#1"] }), /never told about/],
  ["an end came without its reply", ({ events }) => ({ events: mute(events) }), /has an end and no reply/],
];

for (const [what, spoil, told] of spoiledFinds)
  test(`the sweep sees right after a start that ${what}`, () => {
    const look = lookOf(good, "t2");
    const acknowledged = new Map([[look.key, ["plain #t2.1"]]]);
    const find = (chat: LookAtChat): readonly string[] =>
      checkFound({ chats: [chat], dead: [], parked: [] }, acknowledged, () => false);
    assert.deepEqual(find(look), []);
    const broken = find({ ...look, ...spoil(look) });
    assert.ok(
      broken.some((line) => told.test(line)),
      broken.join("\n"),
    );
  });

test("with several gateways a repeat may come late where it is marked, and nowhere else", () => {
  const late = inChat("t2", ({ shown }) => ({ shown: [...shown, shown[0] ?? ""] }))(good);
  const told = (evidence: Evidence): readonly string[] =>
    findBrokenInCluster(evidence).filter((line) => line.includes("is shown"));
  assert.match(told(late).join(), /belongs nowhere/);
  const first = good.chats.find(({ name }) => name === "t2")?.shown[0];
  const isFirst = (event: StoredEvent) =>
    event.type === "outbound_delivery_changed" && event.payload.outbound_id === firstReply(good, first);
  const marked = inLog("t2", (events) =>
    events.flatMap((event) => {
      if (!isFirst(event) || event.type !== "outbound_delivery_changed") return [event];
      if (event.payload.status === "sending") return [event, event];
      return [{ ...event, payload: { ...event.payload, maybe_duplicate: true } }];
    }),
  );
  assert.deepEqual(told(marked(late)), []);
  const often = inChat("t2", ({ shown }) => ({ shown: [...shown, shown[1] ?? "", shown[0] ?? ""] }));
  assert.match(told(often(marked(late))).join(), /belongs nowhere/);
});

/** The id of the reply with this text in the chat t2. */
function firstReply(evidence: Evidence, text: string | undefined): string | undefined {
  const events = evidence.chats.find(({ name }) => name === "t2")?.look.events ?? [];
  return repliesIn(events).find(({ content }) => content.trim() === text)?.id;
}

test("the sweep does not take for lost what a channel keeps until the gateway can take it", () => {
  const chat: LookAtChat = { ...lookOf(good, "t2"), events: [], lastSequence: 0, inbound: [], outbound: [] };
  const look = { chats: [chat], dead: [], parked: ["plain #t2.1"] };
  assert.deepEqual(
    checkFound(look, new Map([[chat.key, ["plain #t2.1"]]]), () => false),
    [],
  );
});

function doubled({ shown }: ChatEvidence): Partial<ChatEvidence> {
  return { shown: [...shown.slice(0, 1), ...shown] };
}

function asking(edit: (one: Evidence["asked"][number]) => Evidence["asked"][number]) {
  return (evidence: Evidence): Evidence => ({ ...evidence, asked: evidence.asked.map(edit) });
}

/** The first answer is asked for once more, in this life; 0: in its own. */
function again(inLife: number) {
  return (evidence: Evidence): Evidence => {
    const first = evidence.asked.find(({ chat }) => chat === "t1");
    assert.ok(first !== undefined);
    return { ...evidence, asked: [...evidence.asked, { ...first, life: inLife === 0 ? first.life : inLife }] };
  };
}

function runsOf(effect: string, times: number) {
  return (evidence: Evidence): Evidence => ({
    ...evidence,
    runs: evidence.runs.flatMap((run) => (run.effect === effect ? Array.from({ length: times }, () => run) : [run])),
  });
}

function interrupted(event: StoredEvent): StoredEvent {
  if (event.type !== "tool_execution_complete" || event.payload.tool_name !== "count_read") return event;
  return { ...event, payload: { ...event.payload, is_error: true, error_code: "INTERRUPTED_BY_RESTART" } };
}

function lied(results: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...results.keys()].map((id) => [id, "all went well"]));
}

function acceptedIds(events: readonly StoredEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === "user_message_queued" ? [event.payload.message_id] : []));
}

function replyIds(events: readonly StoredEvent[]): readonly string[] {
  return [
    ...new Set(
      events.flatMap((event) =>
        event.type === "outbound_delivery_changed" && event.payload.status === "queued"
          ? [event.payload.outbound_id]
          : [],
      ),
    ),
  ];
}

/** What takes the place of an event, so that the sequence stays whole. */
function nothing(event: StoredEvent): StoredEvent {
  const { seq, session_key, event_id, schema_version, timestamp, source, metadata } = event;
  const payload = { title: "nothing", generated_by: "user" as const };
  return {
    type: "session_title_generated",
    seq,
    session_key,
    event_id,
    schema_version,
    timestamp,
    source,
    metadata,
    payload,
  };
}

function endless(events: readonly StoredEvent[]): readonly StoredEvent[] {
  return events.map((event) => (isEnd(event) ? nothing(event) : event));
}

function unsent(event: StoredEvent): StoredEvent {
  return event.type === "outbound_delivery_changed" && event.payload.status !== "queued" ? nothing(event) : event;
}

function mute(events: readonly StoredEvent[]): readonly StoredEvent[] {
  return events.map((event) => (event.type === "outbound_delivery_changed" ? nothing(event) : event));
}

function lookOf(evidence: Evidence, name: string): LookAtChat {
  const chat = evidence.chats.find((one) => one.name === name);
  assert.ok(chat !== undefined);
  return chat.look;
}
