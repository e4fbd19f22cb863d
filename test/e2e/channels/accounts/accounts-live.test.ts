import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../../support/engine/engine-kit.js";
import { startFakeTelegram } from "../../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { FakeWhatsApp } from "../../../support/fakes/whatsapp/fake-whatsapp.js";
import { echo } from "../../../support/worlds/channels/harness-world.js";
import { openAIConfig, startGateway, startWithModel } from "../../../support/worlds/gateway.js";
import { setLive } from "../../../support/worlds/live-edit.js";

const name = "telegram-work";

test("an account comes and goes while the gateway runs, and the other one goes on", async () => {
  await using family = await startFakeTelegram({ token: "4242:family" });
  await using work = await startFakeTelegram({ token: "4243:work" });
  const section = ({ token, url }: typeof work) => ({ enabled: true, token, apiRoot: url, allowFrom: ["*"] });
  await using world = await startWithModel(echo, { channels: { telegram: section(family) } });
  const states = async () => (await world.api.status()).channels.map(({ name: one, state }) => `${one} ${state}`);
  const connected = (...names: readonly string[]) =>
    until(`connected: ${names}`, async () => (await states()).join() === names.map((one) => `${one} connected`).join());
  const said = (bot: typeof work) => bot.sent.map(({ text }) => text);
  await connected("telegram");
  const polls = family.calls("getMe");

  const added = await setLive(world.gateway, { [`channels.${name}`]: section(work) });
  assert.deepEqual([added.restart, added.problem], [[], undefined]);
  await connected("telegram", name);
  work.pushText({ chatId: "42", userId: "42", text: "to work" });
  await until("work answers", () => said(work).length === 1);
  assert.deepEqual([said(work), said(family)], [["You said: to work"], []]);

  // The same bot twice is refused by name, and what runs goes on.
  const doubled = await setLive(world.gateway, { "channels.telegram-third": section(family) });
  assert.match(doubled.problem ?? "", /channels\.telegram-third has the same token as channels\.telegram/);
  await connected("telegram", name);

  const removed = await setLive(world.gateway, {
    "channels.telegram-third": undefined,
    [`channels.${name}`]: undefined,
  });
  assert.deepEqual([removed.restart, removed.problem], [[], undefined]);
  await connected("telegram");
  work.pushText({ chatId: "42", userId: "42", text: "are you there?" });
  family.pushText({ chatId: "42", userId: "42", text: "to family" });
  await until("family answers", () => said(family).length === 1);
  assert.deepEqual([said(work).length, said(family)], [1, ["You said: to family"]]);
  assert.equal(family.calls("getMe"), polls, "the other account was not begun again");

  await setLive(world.gateway, { [`channels.${name}`]: section(work) });
  await until("what was written meanwhile is answered", () => said(work).length === 2);
  assert.deepEqual(said(work)[1], "You said: are you there?");
});

test("two accounts of a platform that brings messages have a path each, and take nothing of each other", async () => {
  await using shop = await FakeWhatsApp.start();
  await using desk = await FakeWhatsApp.start("206540352242922");
  const second = "whatsapp-business-desk";
  const section = (fake: FakeWhatsApp) => ({ enabled: true, allowFrom: ["*"], ...fake.config });
  await using world = await startWithModel(echo, {
    channels: { "whatsapp-business": section(shop), [second]: section(desk) },
  });
  await until(
    "both are connected",
    async () => (await world.api.status()).channels.every(({ state }) => state === "connected"),
    20_000,
  );
  shop.line.open(`${world.url}/hooks/whatsapp-business`);
  desk.line.open(`${world.url}/hooks/${second}`);
  shop.write({ from: "15551230001", text: "to the shop" });
  desk.write({ from: "15551230001", text: "to the desk" });
  const said = (fake: FakeWhatsApp) => fake.chats.all.map(({ text }) => text);
  await until("both answer", () => said(shop).length > 0 && said(desk).length > 0, 20_000);
  await until("nothing waits", async () => (await world.api.status()).outboundWaiting === 0);
  assert.deepEqual([said(shop), said(desk)], [["You said: to the shop"], ["You said: to the desk"]]);
  const { sessions } = await world.api.listSessions({ limit: 5, offset: 0 });
  assert.deepEqual(
    sessions.map(({ key }) => key).sort(),
    [`whatsapp-business:15551230001`, `${second}:15551230001`].sort(),
  );
});

test("a long reply that is ready while its account is off is cut as its platform needs it", async () => {
  const words = Array.from({ length: 1500 }, (_, n) => `word${n}`);
  await using work = await startFakeTelegram({ token: "4243:work" });
  await using model = await startFakeOpenAI({
    answer: ({ index }) => (index === 0 ? { text: ["so"], hang: "start" } : { text: words.join(" ") }),
  });
  const config = (enabled: boolean) => {
    const section = { enabled, token: work.token, apiRoot: work.url, allowFrom: ["*"] };
    return openAIConfig(model.apiBase, { channels: { [name]: section } });
  };
  const begun = await startGateway({ config: config(true) });
  work.pushText({ chatId: "42", userId: "42", text: "tell me all" });
  await model.waitForRequests(1);
  const off = await begun.restart(config(false));
  await until("it is answered", async () => (await off.gateway.api.status()).outboundWaiting > 0, 20_000);
  await using _on = await off.restart(config(true));
  const said = () => work.sent.map(({ text }) => text);
  await until("all of it is shown", () => said().join(" ").includes("word1499"), 20_000);
  assert.deepEqual(
    said()
      .join(" ")
      .match(/word\d+/g),
    words,
  );
  assert.ok(said().length > 1);
});
