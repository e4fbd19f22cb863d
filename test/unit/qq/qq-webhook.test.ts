import assert from "node:assert/strict";
import { test } from "node:test";
import { Signatures } from "../../../src/channels/qq/receiving/signature.js";
import { until } from "../../support/engine/engine-kit.js";
import { freePort } from "../../support/fakes/network/free-port.js";
import { accepted, recordPublish } from "../../support/worlds/channels/channel-kit.js";
import { ann, openQqWorld } from "../../support/worlds/channels/qq-world.js";

test("signatures are those of QQ's documents", () => {
  // https://bot.q.qq.com/wiki/develop/api-v2/dev-prepare/interface-framework/event-emit.html
  const [timestamp, text] = ["1725442341", "Arq0D5A61EgUu4OxUvOp"];
  const signed =
    "87befc99c42c651b3aac0278e71ada338433ae26fcb24307bdc5ad38c1adc2d01bcfcadc0842edac85e85205028a1132afe09280305f13aa6909ffc2d652c706";
  const signatures = new Signatures("DG5g3B4j9X2KOErG");
  assert.equal(signatures.sign(timestamp, text), signed);
  assert.ok(signatures.isOf(signed, timestamp, Buffer.from(text)));
  assert.ok(!signatures.isOf(signed, "1725442342", Buffer.from(text)));
  assert.ok(!signatures.isOf(signed, timestamp, Buffer.from(`${text} `)));
  for (const odd of ["", "zz", signed.slice(2), `${signed}00`, signed.replace("8", "9")])
    assert.ok(!signatures.isOf(odd, timestamp, Buffer.from(text)));
});

test("a webhook takes what QQ has signed, once it is stored, and nothing that is forged, old or for another bot", async () => {
  let isFull = false;
  const gateway = recordPublish(() => (isFull ? { status: "busy", reply: "" } : accepted));
  await using world = await openQqWorld({}, {}, gateway);
  const { qq } = world;
  const port = await freePort();
  const channel = world.open({ webhook: { listenAddr: `127.0.0.1:${port}`, path: "/qq/events" } });
  const running = await world.start(channel);
  const signatures = new Signatures(qq.appSecret);
  const now = () => String(Math.floor(Date.now() / 1000));
  const post = async (payload: object, more: Readonly<Record<string, string>> = {}, timestamp = now()) => {
    const body = JSON.stringify(payload);
    const headers = {
      "x-signature-ed25519": signatures.sign(timestamp, body),
      "x-signature-timestamp": timestamp,
      "x-bot-appid": qq.appId,
      ...more,
    };
    const answer = await fetch(`http://127.0.0.1:${port}/qq/events`, { method: "POST", body, headers });
    return { status: answer.status, said: answer.status === 200 ? await answer.json() : undefined };
  };
  const event = (text: string) => {
    const { type, data } = qq.event({ from: ann, text });
    return { op: 0, t: type, d: data, id: `${type}:1` };
  };

  const first = event("hello");
  assert.deepEqual(await post(first), { status: 200, said: { op: 12, d: 0 } });
  assert.deepEqual(gateway.texts(), ["hello"]);
  assert.equal((await post(first)).status, 200);
  assert.equal(gateway.messages[0]?.dedupId, gateway.messages[1]?.dedupId, "a repeat is known by its id");

  const forged = { "x-signature-ed25519": new Signatures("another-secret").sign(now(), JSON.stringify(first)) };
  assert.equal((await post(first, forged)).status, 401);
  assert.equal((await post(first, { "x-signature-ed25519": "" })).status, 401);
  assert.equal((await post(event("old"), {}, String(Number(now()) - 4000))).status, 401);
  assert.equal((await post(event("odd"), {}, "yesterday")).status, 401);
  assert.equal((await post(event("elsewhere"), { "x-bot-appid": "5" })).status, 403);
  assert.equal((await fetch(`http://127.0.0.1:${port}/qq/events`)).status, 405);

  const trial = { op: 13, d: { plain_token: "Arq0D5A61EgUu4OxUvOp", event_ts: "1725442341" } };
  const { said } = await post(trial, { "x-signature-ed25519": "" });
  assert.deepEqual(said, {
    plain_token: "Arq0D5A61EgUu4OxUvOp",
    signature: signatures.sign("1725442341", "Arq0D5A61EgUu4OxUvOp"),
  });
  // Signed, this would be an event of anybody's.
  for (const d of [
    { plain_token: JSON.stringify(event("gotcha")), event_ts: now() },
    { plain_token: "x", event_ts: `${now()}{"op":0` },
    {},
  ])
    assert.equal((await post({ op: 13, d })).status, 400);

  isFull = true;
  const waiting = post(event("no room"));
  await until("it is offered", () => gateway.texts().includes("no room"), 10_000);
  await running.stop();
  assert.notEqual((await waiting.catch(() => ({ status: 0 }))).status, 200);
  assert.equal(gateway.texts().filter((text) => text === "hello").length, 2);
});
