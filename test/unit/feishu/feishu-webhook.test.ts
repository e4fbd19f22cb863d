import assert from "node:assert/strict";
import { createCipheriv, createHash, randomBytes } from "node:crypto";
import { test } from "node:test";
import { decrypt, openBody, signatureOf } from "../../../src/channels/feishu/receiving/envelope.js";
import { takeEvents } from "../../../src/channels/feishu/receiving/webhook.js";
import { until } from "../../support/engine/engine-kit.js";
import { freePort } from "../../support/fakes/network/free-port.js";
import { accepted, recordPublish } from "../../support/worlds/channels/channel-kit.js";
import { ann, openFeishuWorld } from "../../support/worlds/channels/feishu/feishu-world.js";

const encryptKey = "the key of the app";

function encrypt(payload: object, key = encryptKey): string {
  const iv = randomBytes(16);
  const cipher = createCipheriv("aes-256-cbc", createHash("sha256").update(key).digest(), iv);
  return Buffer.concat([iv, cipher.update(JSON.stringify(payload)), cipher.final()]).toString("base64");
}

test("what is encrypted is opened as Feishu's documents have it, and nothing else", () => {
  // https://open.feishu.cn/document/server-docs/event-subscription-guide/event-subscription-configure-/encrypt-key-encryption-configuration-case
  const documented = "P37w+VZImNgPEO1RBhJ6RtKl7n6zymIbEG1pReEzghk=";
  assert.equal(decrypt(documented, "test key")?.toString(), "hello world");
  assert.equal(openBody(Buffer.from(JSON.stringify({ encrypt: documented })), "test key"), undefined, "it is no JSON");
  const body = Buffer.from(JSON.stringify({ encrypt: encrypt({ a: "中文" }) }));
  assert.deepEqual(openBody(body, encryptKey), { a: "中文" });
  for (const other of ["another key", undefined]) assert.equal(openBody(body, other), undefined);
  for (const odd of ["", "AAAA", "!!!", encrypt({}).slice(0, 30)])
    assert.deepEqual(
      openBody(Buffer.from(JSON.stringify({ encrypt: odd })), encryptKey),
      odd === "" ? { encrypt: "" } : undefined,
    );
});

async function openAddress(secrets: { readonly encryptKey?: string; readonly verificationToken?: string }) {
  let isFull = false;
  const gateway = recordPublish(() => (isFull ? { status: "busy", reply: "" } : accepted));
  const world = await openFeishuWorld({}, {}, gateway);
  const port = await freePort();
  const webhook = { listenAddr: `127.0.0.1:${port}`, path: "/feishu/events" };
  const running = await world.start(world.open({ webhook, ...secrets }));
  const now = (): string => String(Math.floor(Date.now() / 1000));
  const send = async (body: string, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await fetch(`http://127.0.0.1:${port}/feishu/events`, { method: "POST", body, headers });
    return { status: answer.status, said: answer.status === 200 ? await answer.json() : undefined };
  };
  return {
    ...{ world, gateway, running, port, send, now },
    fill: (full: boolean) => {
      isFull = full;
    },
    signed: async (
      payload: object,
      more: Readonly<Record<string, string>> = {},
      timestamp = now(),
      key = encryptKey,
    ) => {
      const body = JSON.stringify({ encrypt: encrypt(payload) });
      const nonce = randomBytes(4).toString("hex");
      const headers = {
        "x-lark-request-timestamp": timestamp,
        "x-lark-request-nonce": nonce,
        "x-lark-signature": signatureOf(timestamp, nonce, key, Buffer.from(body)),
      };
      return await send(body, { ...headers, ...more });
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

test("a webhook takes what is signed, once it is stored, and nothing that is forged, old or for another app", async () => {
  await using far = await openAddress({ encryptKey, verificationToken: "verify-me" });
  const { world, gateway, signed, send, now } = far;
  const { feishu } = world;
  const first = feishu.event({ from: ann, text: "hello" }).event;
  assert.deepEqual(await signed(first), { status: 200, said: {} });
  assert.deepEqual(gateway.texts(), ["hello"]);
  assert.equal((await signed(first)).status, 200, "a replay is answered");
  assert.equal(gateway.messages.length, 1, "and comes to nothing");

  assert.equal(
    (await signed(feishu.event({ from: ann, text: "old" }).event, {}, String(Number(now()) - 4000))).status,
    401,
  );
  assert.equal((await signed(feishu.event({ from: ann, text: "odd" }).event, {}, "yesterday")).status, 401);
  const forged = feishu.event({ from: ann, text: "forged" }).event;
  assert.equal((await signed(forged, {}, now(), "another key")).status, 401);
  assert.equal((await signed(forged, { "x-lark-signature": "" })).status, 401);
  assert.equal((await send(JSON.stringify(forged))).status, 401, "in plain text");
  assert.equal((await send(JSON.stringify({ encrypt: encrypt(forged) }))).status, 401, "without a signature");
  assert.equal((await send("not JSON")).status, 401);
  const elsewhere = JSON.parse(JSON.stringify(forged).replace(feishu.appId, "cli_another"));
  assert.equal((await signed(elsewhere)).status, 403);
  const wrongToken = JSON.parse(JSON.stringify(forged).replace("verify-me", "guess"));
  assert.equal((await signed(wrongToken)).status, 401);
  assert.equal((await signed({ uuid: "1", event: { type: "message" } })).status, 200, "an event of the first version");
  assert.equal((await fetch(`http://127.0.0.1:${far.port}/feishu/events`)).status, 405);
  assert.deepEqual(gateway.texts(), ["hello"]);

  far.fill(true);
  const waiting = signed(feishu.event({ from: ann, text: "no room" }).event);
  await until("it is offered", () => gateway.texts().includes("no room"), 10_000);
  await far.running.stop();
  assert.notEqual((await waiting.catch(() => ({ status: 0 }))).status, 200);
});

test("Feishu's trial of the address is answered, encrypted or not, and nobody else's", async () => {
  await using far = await openAddress({ encryptKey, verificationToken: "verify-me" });
  const trial = { type: "url_verification", token: "verify-me", challenge: "ajls384kdjx98XX" };
  const said = { challenge: trial.challenge };
  assert.deepEqual(await far.send(JSON.stringify({ encrypt: encrypt(trial) })), { status: 200, said });
  assert.deepEqual(await far.send(JSON.stringify(trial)), { status: 200, said });
  assert.equal((await far.send(JSON.stringify({ ...trial, token: "guess" }))).status, 401);
  assert.equal((await far.send(JSON.stringify({ ...trial, challenge: "<script>" }))).status, 401);
});

test("with a Verification Token alone, what does not carry it is refused", async () => {
  await using far = await openAddress({ verificationToken: "verify-me" });
  const { event } = far.world.feishu.event({ from: ann, text: "hello" });
  assert.equal((await far.send(JSON.stringify(event).replace("verify-me", "guess"))).status, 401);
  assert.equal((await far.send(JSON.stringify({ encrypt: encrypt(event) }))).status, 401);
  assert.equal((await far.send(JSON.stringify(event))).status, 200);
  assert.deepEqual(far.gateway.texts(), ["hello"]);
});

test("a press by webhook is answered with its word, and a replay of it with the same", async () => {
  let presses = 0;
  const press = async () => ({ status: presses++ === 0 ? "taken" : "refused", text: "Yes" }) as const;
  await using world = await openFeishuWorld({}, { press });
  const port = await freePort();
  const webhook = { listenAddr: `127.0.0.1:${port}` };
  await world.start(world.open({ webhook, verificationToken: "verify-me" }));
  const event = world.feishu.wrap("card.action.trigger", {
    operator: { open_id: ann },
    action: { value: { press: "ask:1", chat: ann } },
    context: { open_chat_id: "oc_1" },
  });
  for (let n = 0; n < 2; n += 1) {
    const body = JSON.stringify(event);
    const answer = await fetch(`http://127.0.0.1:${port}/hooks/feishu`, { method: "POST", body });
    assert.deepEqual(await answer.json(), { toast: { type: "success", content: "Yes" } });
  }
  assert.equal(presses, 1);
});

test("without any secret nothing is taken, and a wrong login ends the run", async () => {
  await using far = await openAddress({});
  const { event } = far.world.feishu.event({ from: ann, text: "hello" });
  assert.equal((await far.send(JSON.stringify(event))).status, 401);
  await using world = await openFeishuWorld();
  const channel = world.open({ appSecret: "wrong", webhook: {}, verificationToken: "x" });
  await assert.rejects(
    channel.run(world.gateway.publish, () => undefined, new AbortController().signal),
    /appSecret/,
  );
});

test("an event that could not be stored is answered with 503, so that Feishu brings it again", async () => {
  const header = { event_type: "im.message.receive_v1", token: "verify-me" };
  const body = Buffer.from(JSON.stringify({ schema: "2.0", header, event: {} }));
  const request = { method: "POST", query: new URLSearchParams(), headers: {}, body } as const;
  for (const [answer, status] of [
    [undefined, 503],
    [{}, 200],
  ] as const) {
    const parts = {
      appId: "cli_1",
      encryptKey: undefined,
      verificationToken: "verify-me",
      onEvent: async () => answer,
    };
    assert.equal((await takeEvents(parts)(request, AbortSignal.timeout(1000))).status, status);
  }
});
