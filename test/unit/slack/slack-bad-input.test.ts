import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { toReceived } from "../../../src/channels/slack/message.js";
import { commandIn, eventIn, parseEnvelope, pressIn } from "../../../src/channels/slack/receiving/envelope.js";
import { talkIn } from "../../../src/channels/slack/receiving/event.js";
import { toReadable } from "../../../src/channels/slack/text.js";
import { loadConfig } from "../../../src/config/load.js";
import { assertSoon } from "../../support/cost.js";
import { until } from "../../support/engine/engine-kit.js";
import { fuzzOptions, isUnpolluted, oddJson, oddText } from "../../support/fuzz.js";
import { openSlackWorld } from "./slack-kit.js";

const names = [
  ...["type", "channel", "user", "text", "ts", "thread_ts", "subtype", "files", "attachments", "message", "edited"],
  ...["previous_message", "deleted_ts", "bot_id", "payload", "event", "envelope_id", "actions", "value", "channel_id"],
];
const reading = {
  names: { botId: "UBOT", nameOf: () => undefined },
  account: "T1",
  toFile: () => ({ filename: "x", mimeType: "text/plain", read: async () => new Uint8Array() }),
};

test("what comes from Slack is something or nothing, whatever it holds", (t) => {
  const whole = fc.tuple(oddJson(names), oddText).map(([extra, text]) => ({
    ...(typeof extra === "object" ? extra : {}),
    type: "message",
    channel: "D1",
    user: "U1",
    ts: "1700000000.000100",
    text,
  }));
  fc.assert(
    fc.property(fc.oneof(oddJson(names), whole), (data) => {
      const envelope = parseEnvelope(Buffer.from(JSON.stringify({ type: "x", payload: data })));
      if (envelope !== undefined) for (const read of [eventIn, commandIn, pressIn]) read(envelope);
      const talk = talkIn(data);
      if (talk !== undefined) toReceived(talk.message, talk.channel, reading);
    }),
    fuzzOptions(t, 300),
  );
  assert.ok(isUnpolluted());
});

test("a text that is built to take for ever is read in a moment", () => {
  for (const text of [
    "<".repeat(40_000),
    "<@".repeat(20_000),
    "<@UBOT ".repeat(6000),
    "&".repeat(40_000),
    " ".repeat(40_000),
  ])
    assertSoon(() => toReadable(text, reading.names), 1000, text.slice(0, 5));
});

test("a section of the Go maxclaw is taken as it is", async () => {
  const home = await mkdtemp(join(tmpdir(), "maxclaw-slack-"));
  try {
    const section = { enabled: true, botToken: "xoxb-1", appToken: "xapp-1", allowFrom: null };
    await writeFile(join(home, "config.json"), JSON.stringify({ channels: { slack: section } }));
    const { problems, config } = await loadConfig({ home, env: {} });
    assert.deepEqual(problems, []);
    const { enabled, botToken, appToken, allowFrom } = config.channels.slack ?? {};
    assert.deepEqual([enabled, botToken, appToken, allowFrom], [true, "xoxb-1", "xapp-1", []]);
  } finally {
    await rm(home, { recursive: true });
  }
});

test("events twice and out of order, an edit and a deletion of what nobody has seen: each is passed on at most once", async () => {
  await using world = await openSlackWorld();
  const { slack, gateway } = world;
  const channel = slack.directOf("UANN");
  await using _running = await world.run();
  const message = (ts: string, text: string) => ({ type: "message", channel, user: "UANN", ts, text });
  const [early, late] = [slack.store.nextTs(), slack.store.nextTs()];
  for (const event of [message(late, "late"), message(early, "early"), message(late, "late"), message(early, "early")])
    slack.sockets.tell("events_api", { team_id: "T1", event });
  const edited = { ...message(late, "later"), edited: { user: "UANN", ts: slack.store.nextTs() } };
  const change = { type: "message", subtype: "message_changed", channel, message: edited };
  const gone = { type: "message", subtype: "message_deleted", channel, previous_message: message(early, "early") };
  for (const event of [change, gone]) slack.sockets.tell("events_api", { team_id: "T1", event });
  await until("all are confirmed", () => slack.sockets.acks.length === 6);
  assert.deepEqual(
    gateway.messages.map(({ content, change: what, platformMessageId }) => [content, what, platformMessageId]),
    [
      ["late", undefined, late],
      ["early", undefined, early],
      ["later", "edited", late],
      ["", "deleted", early],
    ],
  );
  assert.equal(new Set(gateway.messages.map(({ dedupId }) => dedupId)).size, 4);
});
