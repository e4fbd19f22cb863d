import assert from "node:assert/strict";
import { test } from "node:test";
import { HeartbeatChat } from "../../../src/schedule/heartbeat/chat.js";

test("a heartbeat speaks in the last chat of an owner only as long as that person is one", async () => {
  let owners: readonly string[] = ["telegram:1", "telegram:2"];
  const last = { channel: "telegram", chatId: "1", senderId: "1", sessionKey: "telegram:1" };
  const kept = new Map<string, unknown>([["chat", last]]);
  const chat = new HeartbeatChat({
    chat: undefined,
    owners: () => owners,
    isOwner: (channel, senderId) => owners.includes(`${channel}:${senderId}`),
    records: { get: (id) => kept.get(id), put: async (id, value) => void kept.set(id, value) },
    sessions: { keys: async (isWanted) => ["telegram:1", "telegram:2"].filter(isWanted) },
  });
  assert.equal((await chat.find()).sessionKey, "telegram:1");
  owners = ["telegram:2"];
  assert.equal((await chat.find()).sessionKey, "telegram:2");
  owners = [];
  assert.equal((await chat.find()).channel, "webui");
});
