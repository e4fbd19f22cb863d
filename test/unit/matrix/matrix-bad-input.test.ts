import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { MatrixApi } from "../../../src/channels/matrix/api.js";
import { parseEvent } from "../../../src/channels/matrix/event.js";
import { Questions } from "../../../src/channels/matrix/kept/questions.js";
import { Rooms } from "../../../src/channels/matrix/kept/rooms.js";
import { Threads } from "../../../src/channels/matrix/kept/threads.js";
import { mentions, toReceived } from "../../../src/channels/matrix/message.js";
import { parseBatch } from "../../../src/channels/matrix/receiving/batch.js";
import { ChannelError } from "../../../src/errors.js";
import { until } from "../../support/engine/engine-kit.js";
import { syncCall } from "../../support/fakes/matrix/fake-matrix.js";
import type { FakeReply } from "../../support/fakes/platform/fake-server.js";
import { fuzzOptions, isUnpolluted, oddJson, oddText } from "../../support/fuzz.js";
import { failureOf, never, reply, textsOf } from "../../support/worlds/channels/channel-kit.js";
import { ann, openMatrixWorld } from "../../support/worlds/channels/matrix/matrix-world.js";

const names = [
  ...["type", "event_id", "sender", "content", "body", "msgtype", "m.relates_to", "m.new_content", "m.mentions"],
  ...["user_ids", "rel_type", "state_key", "unsigned", "url", "info", "size", "rooms", "join", "timeline", "events"],
  ...["next_batch", "invite", "invite_state", "membership", "formatted_body", "redacts", "__proto__"],
];
const bot = {
  deviceId: "DEVICE",
  id: "@max:example.org",
  name: "Max",
  rooms: new Rooms("@max:example.org", undefined),
  threads: new Threads("@max:example.org", undefined),
  questions: new Questions("@max:example.org", undefined),
};
const api = new MatrixApi("http://127.0.0.1:9", { token: async () => "", renew: async () => undefined });
const reading = { bot, api, roomId: "!a:b", isDirect: true, commands: ["stop"] };

test("what comes from Matrix is something or nothing, whatever it holds", (t) => {
  const whole = fc.tuple(oddJson(names), oddText, oddJson(names)).map(([extra, body, about]) => ({
    ...(typeof extra === "object" ? extra : {}),
    type: "m.room.message",
    event_id: "$1",
    sender: "@ann:example.org",
    content: { msgtype: "m.text", body, "m.relates_to": about, "m.mentions": about, info: about, url: "mxc://a/b" },
  }));
  fc.assert(
    fc.property(fc.oneof(oddJson(names), whole), (data) => {
      const event = parseEvent(data);
      if (event !== undefined) {
        mentions(event, bot);
        toReceived(event, { ...reading, quoted: event });
      }
      parseBatch(data, bot.id);
      parseBatch(
        { next_batch: "s1", rooms: { join: { "!a:b": data }, invite: { "!a:b": data }, leave: data } },
        bot.id,
      );
    }),
    fuzzOptions(t, 300),
  );
  assert.ok(isUnpolluted());
});

test("a text that is built to take for ever is read in a moment", () => {
  const began = Date.now();
  for (const body of [
    ">".repeat(60_000),
    "> <\n".repeat(15_000),
    " ".repeat(60_000),
    ",".repeat(60_000),
    "max".repeat(20_000),
  ]) {
    const event = parseEvent({
      type: "m.room.message",
      event_id: "$1",
      sender: "@ann:example.org",
      content: { msgtype: "m.text", body: `max: ${body}`, "m.relates_to": { "m.in_reply_to": { event_id: "$0" } } },
    });
    assert.ok(event !== undefined);
    mentions(event, bot);
    toReceived(event, reading);
  }
  assert.ok(Date.now() - began < 2000);
});

test("older clients repeat what they answer: that is not what was said", () => {
  const said = (body: string): string | undefined => {
    const relates = { "m.in_reply_to": { event_id: "$0" } };
    const content = { msgtype: "m.text", body, "m.relates_to": relates };
    const event = parseEvent({ type: "m.room.message", event_id: "$1", sender: "@ann:example.org", content });
    return event === undefined ? undefined : toReceived(event, reading)?.content;
  };
  assert.equal(said("> <@max:example.org> one\n> two\n\nand then?"), "and then?");
  assert.equal(said("> a quote of my own\n\nfine"), "> a quote of my own\n\nfine");
});

test("answers that are not of a homeserver end the run with what to check, and hold no secret", async () => {
  await using world = await openMatrixWorld();
  const { matrix } = world;
  const room = matrix.room([ann]);
  const page = Buffer.from("<html>It works!</html>");
  const answers: readonly FakeReply[] = [
    { status: 404, body: page, headers: { "content-type": "text/html" } },
    { status: 200, body: page, headers: { "content-type": "text/html" } },
    { status: 302, headers: { location: "https://elsewhere.example/" }, body: page },
  ];
  for (const answer of answers) {
    const channel = world.open();
    const running = await world.run(channel);
    matrix.server.failNext(syncCall, { kind: "answer", ...answer });
    matrix.write({ room, sender: ann, text: "wakes it" });
    const failure = await running.ended;
    assert.ok(failure instanceof ChannelError && failure.retryable, String(failure));
    assert.ok(!textsOf(failure).includes(matrix.token));
  }
  matrix.server.failNext(/\/send\//, { kind: "answer", status: 404, body: page });
  assert.match((await failureOf(world.open().send(reply(room, "x"), never))).message, /channels\.matrix\.homeserver/);
});

test("a record that is damaged or of another account is not used", async () => {
  await using world = await openMatrixWorld();
  const { matrix, context } = world;
  for (const [id, value] of [
    ["@max:example.org/since", { token: 7 }],
    ["@max:example.org/room/!x:y", "?"],
    ["@max:example.org/ask/$1", { values: 1 }],
    ["@max:example.org/thread/$1", null],
    ["@max:example.org/invite/!z:y", []],
    ["@other:example.org/since", { token: "s99", at: 1 }],
    ["login", { token: "stolen" }],
  ] as const)
    await context.records.put(id, value);
  const room = matrix.room([ann]);
  await world.run();
  matrix.write({ room, sender: ann, text: "hello" });
  await world.came("hello");
  await until("it is written", () => JSON.stringify(context.records.get("@max:example.org/since")).includes('"s'));
});
