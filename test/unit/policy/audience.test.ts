import assert from "node:assert/strict";
import { test } from "node:test";
import { createAudience, type Heard } from "../../../src/policy/audience.js";

const places: Readonly<Record<string, Heard>> = {
  "cron:own": { sessionKey: "telegram:1", channel: "telegram", chatId: "1", chatType: "dm" },
  "cron:page": { sessionKey: "webui:a", channel: "webui", chatId: "a", chatType: "dm" },
  "cron:guest": { sessionKey: "telegram:2", channel: "telegram", chatId: "2", chatType: "dm" },
  "cron:group": { sessionKey: "telegram:-100", channel: "telegram", chatId: "-100", chatType: "group" },
  // Made by an owner, on the page, in the chat of a guest.
  "cron:for-guest": { sessionKey: "telegram:2", channel: "webui", chatId: "2", chatType: "dm" },
  "cron:nested": { sessionKey: "cron:page", channel: "webui", chatId: "own", chatType: "dm" },
  "cron:circle": { sessionKey: "cron:circle", channel: "webui", chatId: "circle", chatType: "dm" },
};
const readersOf = createAudience({
  owners: ["telegram:1", "discord:111", "email:me@example.org", "matrix:@me:example.org"],
  platforms: new Set(["telegram", "discord", "email", "websocket", "matrix"]),
  plainIds: new Set(["telegram", "discord", "email", "websocket"]),
  chatOfJob: (key) => places[key],
});

/** Session, channel, chat and kind of chat; who reads, and whose memory it is. */
const rows: readonly (readonly [string, string, string, "dm" | "group", "owner" | "others", string])[] = [
  // The page, the terminal, HTTP.
  ["webui:default", "webui", "default", "dm", "owner", "webui:default"],
  ["webui:fork-1a2b", "webui", "fork-1a2b", "dm", "owner", "webui:fork-1a2b"],
  ["cli:1", "cli", "1", "dm", "owner", "cli:1"],
  ["openai:default", "webui", "default", "dm", "owner", "openai:default"],
  ["shortcuts:phone", "webui", "phone", "dm", "owner", "shortcuts:phone"],
  // Direct chats.
  ["telegram:1", "telegram", "1", "dm", "owner", "telegram:1"],
  ["telegram:1:7", "telegram", "1", "dm", "owner", "telegram:1"],
  ["telegram:2", "telegram", "2", "dm", "others", "telegram:2"],
  ["telegram:12", "telegram", "12", "dm", "others", "telegram:12"],
  ["discord:111", "discord", "111", "dm", "owner", "discord:111"],
  ["telegram:111", "telegram", "111", "dm", "others", "telegram:111"],
  ["email:me@example.org", "email", "me@example.org", "dm", "owner", "email:me@example.org"],
  ["email:me@example.org:t1", "email", "me@example.org", "dm", "owner", "email:me@example.org"],
  [
    "email:me@example.org.evil.example",
    "email",
    "me@example.org.evil.example",
    "dm",
    "others",
    "email:me@example.org.evil.example",
  ],
  ["matrix:@me:example.org", "matrix", "@me:example.org", "dm", "owner", "matrix:@me:example.org"],
  // Groups, no matter who speaks in them, also one that bears an owner's id.
  ["telegram:-100", "telegram", "-100", "group", "others", "telegram:-100"],
  ["telegram:-100:5", "telegram", "-100", "group", "others", "telegram:-100"],
  ["telegram:1", "telegram", "1", "group", "others", "telegram:1"],
  ["discord:900:901", "discord", "900", "group", "others", "discord:900"],
  // From the page into other chats.
  ["telegram:1", "webui", "1", "dm", "owner", "telegram:1"],
  ["telegram:1:7", "webui", "1:7", "dm", "owner", "telegram:1"],
  ["telegram:2", "webui", "2", "dm", "others", "telegram:2"],
  ["telegram:2", "webui", "1", "dm", "others", "telegram:2"],
  ["telegram:2", "cli", "x", "dm", "others", "telegram:2"],
  ["telegram:-100:5", "webui", "-100:5", "dm", "others", "telegram:-100"],
  ["matrix:!room:example.org", "webui", "!room:example.org", "dm", "others", "matrix:!room:example.org"],
  // Sub-agents.
  ["telegram:1:spawn:a:spawn:b", "telegram", "1", "dm", "owner", "telegram:1"],
  ["telegram:2:spawn:a", "telegram", "2", "dm", "others", "telegram:2"],
  ["telegram:2:spawn:a", "webui", "2", "dm", "others", "telegram:2"],
  ["webui:a:spawn:b", "webui", "a", "dm", "owner", "webui:a"],
  // Jobs that run in a conversation of their own.
  ["cron:own", "telegram", "1", "dm", "owner", "telegram:1"],
  ["cron:guest", "telegram", "2", "dm", "others", "telegram:2"],
  ["cron:group", "telegram", "-100", "group", "others", "telegram:-100"],
  ["cron:own", "webui", "own", "dm", "owner", "telegram:1"],
  ["cron:page", "webui", "a", "dm", "owner", "webui:a"],
  ["cron:nested", "webui", "x", "dm", "owner", "webui:a"],
  ["cron:guest", "webui", "guest", "dm", "others", "telegram:2"],
  ["cron:group", "webui", "group", "dm", "others", "telegram:-100"],
  ["cron:for-guest", "webui", "2", "dm", "others", "telegram:2"],
  ["cron:forgotten", "webui", "forgotten", "dm", "others", "cron:forgotten"],
  ["cron:circle", "webui", "circle", "dm", "others", "cron:circle"],
  // A message that belongs to another conversation than its chat's.
  ["telegram:2", "telegram", "1", "dm", "others", "telegram:1"],
];

test("who reads along follows the table, over sessions, channels, chats, jobs and sub-agents", () => {
  for (const [sessionKey, channel, chatId, chatType, audience, chat] of rows)
    assert.deepEqual(
      readersOf({ sessionKey, channel, chatId, chatType }),
      { audience, chat },
      `${sessionKey} from ${channel}:${chatId} ${chatType}`,
    );
});
