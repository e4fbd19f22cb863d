import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { echo } from "../../support/worlds/channels/harness-world.js";
import { openAIConfig, startGateway, tempHome } from "../../support/worlds/gateway.js";

const secret = "hook-signature-secret";
const token = "a-gateway-token-of-some-length";

const code = `import { createHmac } from "node:crypto";
export default ({ channelKit, log, options }) => ({ channels: ({ forChannel }) => {
  const { webhooks, commands, records } = forChannel("hooked");
  return [{ name: "hooked", split: (text) => [text],
    send: async ({ id, content }) => { await records.put("said", content); return { platformMessageId: id }; },
    async run(publish, onConnected, signal) {
      log.info("commands: " + commands.map(({ command }) => command).join(" "));
      const inbox = new channelKit.Inbox({ title: "Hooked", publish, tell: async () => {}, log }, signal);
      await using hook = await channelKit.openWebhook({ name: "hooked", paths: webhooks, log }, async ({ body, headers }) => {
        const sign = createHmac("sha256", options.secret).update(body).digest("hex");
        if (headers["x-signature"] !== sign) return { status: 401 };
        const { id, text } = JSON.parse(body.toString());
        const taken = await inbox.take({ chatId: "ann", senderId: "ann", content: text, chatType: "dm", addressed: true, dedupId: "hooked:" + id });
        return { status: taken === undefined ? 503 : 200 };
      });
      onConnected();
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      await inbox.settled();
    } }];
} })`
  .replace("await using hook =", "const hook =")
  .replace("await inbox.settled();", "await hook[Symbol.asyncDispose](); await inbox.settled();");

test("a platform brings messages to a path of the gateway's own server: signed, once, and without the gateway's token", async () => {
  await using model = await startFakeOpenAI({ answer: echo });
  const home = await tempHome();
  await writeFile(join(home, "hooked.mjs"), code);
  const config = openAIConfig(model.apiBase, {
    extensions: [{ module: "hooked.mjs", options: { secret } }],
    owners: ["hooked:ann"],
    gateway: { token },
  });
  await using gateway = await startGateway({ home, config });
  const url = `http://${gateway.gateway.address}/hooks/`;
  const post = async (body: string, signature: string, name = "hooked") =>
    (await fetch(url + name, { method: "POST", body, headers: { "x-signature": signature } })).status;
  const sign = (body: string): string => createHmac("sha256", secret).update(body).digest("hex");
  const body = '{"id": 1,  "text":"hello"}';
  await until("the channel has its path", async () => (await post("{}", "forged")) === 401);
  assert.equal(await post(body, sign(body)), 200);
  assert.equal(await post(body, sign(body)), 200);
  assert.equal(await post(`${body} `, sign(body)), 401);
  assert.notEqual(await post(body, sign(body), "elsewhere"), 200);
  assert.notEqual(await post(body, sign(body), "hooked/deeper"), 200);
  await until("it is answered", () => model.requests.length > 0);
  await until("it was sent", async () => (await gateway.gateway.api.status()).outboundWaiting === 0);
  assert.equal((await gateway.gateway.api.ledger()).length, 1, "the repeat is known");
  assert.ok(gateway.log.lines.some(({ message }) => /^commands: .*\bstop\b/.test(message)));
});
