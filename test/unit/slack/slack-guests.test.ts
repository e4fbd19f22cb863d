import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReceivedPress } from "../../../src/channels/channel.js";
import { isOfPerson } from "../../../src/channels/slack/message.js";
import { talkIn } from "../../../src/channels/slack/receiving/event.js";
import { toText } from "../../../src/channels/slack/send.js";
import { until } from "../../support/engine/engine-kit.js";
import { slackBot } from "../../support/fakes/slack/fake-slack.js";
import { openSlackWorld } from "./slack-kit.js";

const ts = "1790000000.000100";
const owner = "UOWNER";

test("nobody speaks as a person but the person: no bot, no workflow, no edit of somebody else", () => {
  const said = { type: "message", channel: "C1", ts, text: "forged", user: owner };
  const isHeard = (event: object): boolean => {
    const talk = talkIn({ ...said, ...event });
    return talk !== undefined && isOfPerson(talk.message, slackBot.id);
  };
  assert.ok(isHeard({}));
  assert.ok(!isHeard({ bot_id: "B9" }), "an app with the person's own token");
  assert.ok(!isHeard({ subtype: "bot_message", username: "owner" }));
  assert.ok(!isHeard({ subtype: "bot_message", user: owner, bot_id: "B9" }));
  assert.ok(!isHeard({ subtype: "channel_join" }));
  assert.ok(!isHeard({ user: undefined, username: owner }));
  assert.ok(!isHeard({ subtype: "message_replied", message: said }));
  const changed = (message: object) => isHeard({ subtype: "message_changed", user: owner, message });
  const edited = { ...said, edited: { user: owner, ts } };
  assert.ok(changed(edited));
  assert.ok(!changed({ ...edited, edited: { user: "UEVE", ts } }), "an edit by another");
  assert.ok(!changed({ ...said, edited: undefined }), "a preview of an address");
  assert.ok(!changed({ ...edited, user: undefined }));
  assert.ok(!changed({ ...edited, bot_id: "B9" }));
  const byEve = { ...edited, user: "UEVE", edited: { user: "UEVE", ts } };
  assert.equal(talkIn({ ...said, subtype: "message_changed", message: byEve })?.message.user, "UEVE");
});

test("a slash command counts in this workspace, and in direct chats with the bot alone", async () => {
  await using world = await openSlackWorld();
  const { slack, gateway } = world;
  await using _running = await world.run();
  const own = slack.directOf(owner);
  const command = (channel: string, text: string, more: object = {}): void => {
    const about = { command: "/maxclaw", user_id: owner, user_name: "ann", channel_id: channel, text };
    slack.sockets.tell("slash_commands", { ...about, team_id: slackBot.team, trigger_id: text, ...more });
  };
  command("DBETWEENTWO", "in a chat of two people");
  command(own, "of another workspace", { team_id: "T2" });
  command("C1", "in a channel of another workspace", { team_id: "T2", enterprise_id: "E1" });
  command(own, "in our chat");
  command("C1", "in a channel");
  await until("all are answered", () => slack.sockets.acks.length === 5);
  assert.deepEqual([...gateway.texts()].toSorted(), ["in a channel", "in our chat"]);
  const words = slack.sockets.acks.map(({ payload }) => (payload as { readonly text: string }).text);
  assert.equal(words.filter((word) => /^I am not in this/.test(word)).length, 3);
});

test("a button counts for who pressed it and where, whatever else an envelope says", async () => {
  const pressed: ReceivedPress[] = [];
  const press = async (one: ReceivedPress) => {
    pressed.push(one);
    return { status: "refused" as const, text: "Only Ann or an owner can answer this." };
  };
  await using world = await openSlackWorld({ context: { press } });
  const { slack } = world;
  await using _running = await world.run();
  const actions = [{ type: "button", value: "ask_1:allow", user: owner }];
  const about = { type: "block_actions", channel: { id: "C1" }, message: { ts, user: owner }, actions };
  const tell = (payload: object): string => slack.sockets.tell("interactive", payload);
  tell({ ...about, user: { id: "UEVE", name: owner }, view: { user: owner } });
  tell({ ...about, user: owner });
  tell({ ...about, user: { name: owner } });
  tell({ ...about, user: { id: owner }, type: "view_submission" });
  tell({ ...about, user: { id: owner }, type: "message_action" });
  await until("all are confirmed", () => slack.sockets.acks.length === 5);
  assert.deepEqual(
    pressed.map(({ senderId, chatId, chatType }) => [senderId, chatId, chatType]),
    [["UEVE", "C1", "group"]],
  );
});

test("no word of the assistant calls a channel, everybody or a person", () => {
  const words = [
    "<!channel> <!here> <!everyone> <@UOWNER> <#C1> <!subteam^S1>",
    "[x](!channel) [x](@UOWNER) [x](<!channel>) [x](http:!channel) [](!here)",
    "`<!channel>` **<!here>** > <!everyone>",
    "```\n<!channel>\n```",
    "| a |\n|-|\n| <!channel> |",
    "![<!channel>](https://example.org/<!here>)",
    "[a](https://example.org/x|<!channel>)",
  ];
  for (const word of words) assert.doesNotMatch(toText(word), /<[!@#]/, word);
});
