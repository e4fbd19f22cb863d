import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../../support/engine/engine-kit.js";
import { type FakeTelegram, startFakeTelegram } from "../../../support/fakes/fake-telegram.js";
import { startWithModel } from "../../../support/worlds/gateway.js";

const token = "4242:right";

async function openPlace(more: Record<string, unknown> = { gateway: { token: "page-token" } }) {
  const telegram = await startFakeTelegram({ token });
  const channels = { telegram: { enabled: true, token, apiRoot: telegram.url } };
  const world = await startWithModel({ text: "I am here." }, { channels, ...more });
  await until(
    "telegram is connected",
    async () => (await world.api.status()).channels[0]?.state === "connected",
    20_000,
  );
  const call = async (method: string, path: string) => {
    const response = await fetch(`${world.url}/api/channels/${path}`, {
      method,
      headers: { authorization: "Bearer page-token" },
    });
    return { status: response.status, answer: JSON.parse(await response.text()) };
  };
  return {
    telegram,
    world,
    call,
    owners: async () => JSON.parse(await readFile(join(world.gateway.home, "config.json"), "utf8")).owners,
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await telegram[Symbol.asyncDispose]();
    },
  };
}

async function textsTo(telegram: FakeTelegram, count: number): Promise<readonly string[]> {
  return (await telegram.waitForSent(count)).map(({ text }) => text);
}

test("who sends the code of the page to the bot is an owner from then on, and nobody else is", async () => {
  await using place = await openPlace();
  const { telegram, call } = place;
  const { answer: given } = await call("POST", "telegram/owner-code");
  assert.match(given.code, /^[A-HJKMNP-Z2-9]{4}-[A-HJKMNP-Z2-9]{4}$/);
  assert.equal((await call("GET", "telegram/owner-code")).answer.state, "waiting");

  telegram.pushText({ chatId: "42", userId: "42", text: ` ${given.code.toLowerCase().replace("-", " ")}` });
  const [hello = ""] = await textsTo(telegram, 1);
  assert.match(hello, /this chat is yours now/);
  assert.deepEqual(await place.owners(), ["telegram:42"]);
  const done = (await call("GET", "telegram/owner-code")).answer;
  assert.deepEqual([done.state, done.owner.senderId], ["done", "42"]);

  // The same code a second time is a stranger's message.
  telegram.pushText({ chatId: "43", userId: "43", text: given.code });
  const [, pairing = ""] = await textsTo(telegram, 2);
  assert.match(pairing, /maxclaw pair approve/);
  assert.deepEqual(await place.owners(), ["telegram:42"]);

  telegram.pushText({ chatId: "42", userId: "42", text: "are you there?" });
  assert.match((await textsTo(telegram, 3)).at(-1) ?? "", /I am here\./);
});

test("a new code ends the earlier one, a code that is taken back counts no more, and guessing ends it", async () => {
  await using place = await openPlace();
  const { telegram, call } = place;
  const first = (await call("POST", "telegram/owner-code")).answer.code;
  const second = (await call("POST", "telegram/owner-code")).answer.code;
  assert.notEqual(first, second);
  telegram.pushText({ chatId: "42", userId: "42", text: first });
  assert.match((await textsTo(telegram, 1))[0] ?? "", /maxclaw pair approve/);
  await call("DELETE", "telegram/owner-code");
  assert.equal((await call("GET", "telegram/owner-code")).answer.state, "none");
  const third = (await call("POST", "telegram/owner-code")).answer.code;
  for (let guess = 0; guess < 20; guess += 1) telegram.pushText({ chatId: "42", userId: "42", text: "AAAA-AAAA" });
  await until(
    "guessing has ended the code",
    async () => (await call("GET", "telegram/owner-code")).answer.state === "failed",
    20_000,
  );
  const { updateId } = telegram.pushText({ chatId: "42", userId: "42", text: third });
  await telegram.waitForConfirmed(updateId + 1);
  assert.equal(await place.owners(), undefined);
});

test("without a token nobody gets a code, and a channel that is not connected has none", async () => {
  await using open = await openPlace({});
  const refused = await open.call("POST", "telegram/owner-code");
  assert.deepEqual([refused.status, refused.answer.code], [403, "forbidden"]);
  assert.match(refused.answer.error, /gateway\.token/);
  await using place = await openPlace();
  const absent = await place.call("POST", "discord/owner-code");
  assert.deepEqual([absent.status, absent.answer.code], [409, "wrong_state"]);
});

test("a login that is tried says how people find the bot, and since when the channel is connected", async () => {
  await using place = await openPlace();
  assert.deepEqual((await place.call("POST", "telegram/test")).answer, { ok: true, account: "@maxclaw_test_bot" });
  const found = (await place.call("GET", "telegram/status")).answer;
  assert.equal(Number.isNaN(Date.parse(found.since)), false);
});
