import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { LiveConfig } from "../../../../src/config/live/live-config.js";
import { configOf } from "../../../../src/config/load.js";
import { silentLog } from "../../../../src/log.js";
import { openReadership } from "../../../../src/wiring/assistant/readers.js";
import { openIn, tempFolder, until } from "../../../support/engine/engine-kit.js";
import { openTwoAccounts, type TwoAccounts } from "../../../support/worlds/channels/accounts/two-accounts.js";
import { callThenDone } from "../../../support/worlds/channels/chat-world.js";
import { openTelegramHarness } from "../../../support/worlds/channels/telegram-harness.js";
import { startGateway, type TestGateway } from "../../../support/worlds/gateway.js";
import { lookedAt } from "../../../support/worlds/live-edit.js";

const name = "telegram-work";
const code = /[A-HJKMNP-Z2-9]{8}/;

/** Resolves once both accounts are connected. */
async function connected({ gateway }: TestGateway): Promise<void> {
  const states = async () => (await gateway.api.status()).channels.filter(({ state }) => state === "connected");
  await until("both are connected", async () => (await states()).length === 2, 20_000);
}

/** What an account's first person writes, and then gets. */
async function told(world: TwoAccounts, account: TwoAccounts["first"], text: string): Promise<string> {
  const before = world.shown(account).length;
  await account.write({ from: account.people[0], text });
  await until(`${account.channel} answers ${text}`, () => world.shown(account).length > before, 20_000);
  return world.shown(account).at(-1) ?? "";
}

test("an owner of one account is a stranger on the other, and is let in there as a guest alone", async () => {
  await using world = await openTwoAccounts(openTelegramHarness, name);
  const { first, second } = world;
  const [{ senderId }] = first.people;
  assert.equal(second.people[0].senderId, senderId, "the same person on both");
  await world.write({ owners: [`telegram:${senderId}`] }, { allowFrom: [] });
  await using gateway = await startGateway({ home: world.home });
  assert.match(await told(world, first, "/model openai/first"), /openai\/first/);
  const asked = await told(world, second, "/model openai/second");
  assert.match(asked, code);
  assert.doesNotMatch(asked, /openai/);
  const { channel } = await gateway.gateway.api.approvePairing(code.exec(asked)?.[0] ?? "");
  assert.equal(channel, name);
  assert.match(await told(world, second, "/model openai/second"), /Only an owner/);
  assert.equal(await told(world, second, "hello"), "You said: hello");
});

test("who is let in on a further account, or is named in its allowFrom, stays a stranger on the first one", async () => {
  await using world = await openTwoAccounts(openTelegramHarness, name);
  const { first, second } = world;
  const [{ senderId }] = second.people;
  const channels = {
    telegram: { enabled: true, ...first.config },
    [name]: { enabled: true, ...second.config },
  };
  await world.write({ channels });
  await using gateway = await startGateway({ home: world.home });
  const asked = await told(world, second, "let me in");
  await gateway.gateway.api.approvePairing(code.exec(asked)?.[0] ?? "");
  assert.equal(await told(world, second, "hello"), "You said: hello");
  assert.match(await told(world, first, "and here?"), code);
  await world.write({ channels: { ...channels, [name]: { ...channels[name], allowFrom: [senderId] } } });
  assert.deepEqual((await lookedAt(gateway.gateway)).restart, []);
  assert.equal(await told(world, second, "still?"), "You said: still?");
  assert.equal(world.model.requests.length, 2);
});

test("the page's code makes its sender an owner of the account that it was sent to", async () => {
  await using world = await openTwoAccounts(openTelegramHarness, name);
  await world.write({ gateway: { token: "page-token-of-the-test" } }, { allowFrom: [] });
  await using gateway = await startGateway({ home: world.home });
  await connected(gateway);
  const headers = { authorization: "Bearer page-token-of-the-test" };
  const url = `http://${gateway.gateway.address}/api/channels/${name}/owner-code`;
  const given = (await (await fetch(url, { method: "POST", headers })).json()) as { readonly code: string };
  // On the other account it is what anybody may have written.
  await told(world, world.first, given.code);
  assert.match(await told(world, world.second, given.code), /this chat is yours now/);
  const { owners } = JSON.parse(await readFile(join(world.home, "config.json"), "utf8"));
  assert.deepEqual(owners, [`${name}:42`]);
});

test("the message tool and a job reach the account that they name, and no other", async () => {
  const input = { channel: name, chat: "42", text: "from the other account" };
  await using world = await openTwoAccounts(openTelegramHarness, name, (request) =>
    /tell them/.test(request.userText) ? callThenDone("message", input)(request) : { text: "noted" },
  );
  await world.write({ owners: ["telegram:42"], policy: { rules: [{ tool: "message", verdict: "allow" }] } });
  await using gateway = await startGateway({ home: world.home });
  await told(world, world.second, "I am here");
  await world.first.write({ from: world.first.people[0], text: "tell them" });
  await world.seen(world.second, "from the other account");
  await world.seen(world.first, "done: ");
  assert.ok(!world.shown(world.first).some((text) => text.includes("from the other account")));
  const { id } = await gateway.gateway.api.cron.add({
    prompt: "report",
    at: new Date(Date.now() + 3_600_000).toISOString(),
    sessionKey: `${name}:42`,
  });
  const before = world.shown(world.first).length;
  await gateway.gateway.api.cron.run(id);
  await until("the job speaks there", () => world.shown(world.second).filter((text) => text === "noted").length === 2);
  assert.equal(world.shown(world.first).length, before);
});

test("chats of an account that is in the config no longer are still read by others, and its threads are parts of a chat", async (t) => {
  const live = new LiveConfig({
    opened: await configOf({ owners: ["telegram:42"] }, { home: "/nowhere", env: {} }),
    log: silentLog,
  });
  const { engine } = await openIn(tempFolder(t));
  const isOwner = (channel: string, sender: string): boolean => `${channel}:${sender}` === "telegram:42";
  const { ofSession } = await openReadership({ engine }, (channel) => channel === "slack-bridge", isOwner, live);
  assert.deepEqual(ofSession("telegram:42"), { audience: "owner", chat: "telegram:42" });
  assert.deepEqual(ofSession(`${name}:42`), { audience: "others", chat: `${name}:42` });
  assert.deepEqual(ofSession(`${name}:-100:5`), { audience: "others", chat: `${name}:-100` });
  // An extension's channel is called as it likes, and its ids may hold colons.
  assert.deepEqual(ofSession("slack-bridge:a:b"), { audience: "others", chat: "slack-bridge:a:b" });
  assert.equal(ofSession("webui:42").audience, "owner");
  await engine[Symbol.asyncDispose]();
});
