import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import {
  openWebhook,
  parseListenAddr,
  type TakeWebhook,
  type WebhookOptions,
} from "../../../../src/channels/wire/webhook.js";
import { OpenWebhookPaths } from "../../../../src/channels/wire/webhook-paths.js";
import { ChannelError } from "../../../../src/errors.js";
import { silentLog } from "../../../../src/log.js";
import { gate, until } from "../../../support/engine/engine-kit.js";

async function open(take: TakeWebhook, more: Partial<WebhookOptions> = {}) {
  const options = { name: "feishu", listenAddr: "127.0.0.1:0", path: "/feishu/events", log: silentLog, ...more };
  const hook = await openWebhook(options, take);
  return {
    hook,
    post: (body: string | Buffer, path = "/feishu/events", method = "POST") =>
      fetch(`http://127.0.0.1:${hook.port}${path}`, { method, ...(method === "GET" ? {} : { body }) }),
    [Symbol.asyncDispose]: () => hook[Symbol.asyncDispose](),
  };
}

test("gives the body byte for byte, so that its signature can be checked, and answers with what it is told", async () => {
  const secret = "hook-secret";
  const body = Buffer.from('{"text":"漢字 \\u00e9",  "n":1}\n');
  const seen: unknown[] = [];
  await using t = await open(async ({ body: raw, query, method }) => {
    seen.push([method, query.get("challenge"), createHmac("sha256", secret).update(raw).digest("hex")]);
    return method === "GET" ? { status: 200, body: query.get("challenge") ?? "" } : { status: 200, body: { ok: true } };
  });
  const posted = await t.post(body);
  assert.deepEqual([posted.status, await posted.json()], [200, { ok: true }]);
  const asked = await t.post("", "/feishu/events?challenge=42", "GET");
  assert.deepEqual([asked.status, await asked.text()], [200, "42"]);
  assert.deepEqual(seen, [
    ["POST", null, createHmac("sha256", secret).update(body).digest("hex")],
    ["GET", "42", createHmac("sha256", secret).update("").digest("hex")],
  ]);
});

test("what is not its own is refused before anybody looks at it", async () => {
  let taken = 0;
  const take: TakeWebhook = async () => {
    taken += 1;
    return { status: 200 };
  };
  await using t = await open(take, { maxBytes: 1000 });
  assert.equal((await t.post("x", "/elsewhere")).status, 404);
  assert.equal((await t.post("x", "/feishu/events/")).status, 404);
  assert.equal((await t.post("x", "/feishu/events", "PUT")).status, 405);
  assert.equal((await t.post("x".repeat(1001)).catch(() => ({ status: 413 }))).status, 413);
  assert.equal(taken, 0);
  assert.equal((await t.post("x".repeat(1000))).status, 200);
  assert.equal(taken, 1);
});

test("a body without a length that grows too large is not read to its end", async () => {
  await using t = await open(async () => ({ status: 200 }), { maxBytes: 1000 });
  const socket = connect(Number(t.hook.port), "127.0.0.1");
  socket.write("POST /feishu/events HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n");
  socket.write(`7d0\r\n${"x".repeat(2000)}\r\n`);
  const [answer] = (await once(socket, "data")) as [Buffer];
  assert.match(answer.toString(), /^HTTP\/1\.1 413 /);
  socket.destroy();
});

test("it is answered only when what it brought is stored, and with 503 when that fails or takes too long", async () => {
  const stored = gate();
  await using t = await open(
    async ({ body }, signal) => {
      const text = body.toString();
      if (text === "broken") throw new Error("the disk is full");
      if (text === "never") await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      await stored.opened;
      return { status: 200 };
    },
    { limitMs: 300 },
  );
  let status = 0;
  const posted = t.post("slow").then((response) => {
    status = response.status;
  });
  assert.equal((await t.post("broken")).status, 503);
  assert.equal(status, 0);
  stored.open();
  await posted;
  assert.equal(status, 200);
  assert.equal((await t.post("never")).status, 503);
});

test("a request that is under way at the end is answered with 503, and the port is free afterwards", async () => {
  const hang = gate();
  let begun = false;
  const t = await open(async () => {
    begun = true;
    await hang.opened;
    return { status: 200 };
  });
  const posted = t.post("x").then(
    ({ status }) => status,
    () => "cut",
  );
  await until("it is under way", () => begun);
  await t.hook[Symbol.asyncDispose]();
  assert.equal(await posted, 503);
  hang.open();
  await using again = await open(async () => ({ status: 200 }), { listenAddr: `127.0.0.1:${t.hook.port}` });
  assert.equal((await again.post("x")).status, 200);
});

test("an address that cannot be listened on, or is none, is named with its key", async () => {
  await using t = await open(async () => ({ status: 200 }));
  for (const listenAddr of [`127.0.0.1:${t.hook.port}`, "nonsense", "127.0.0.1:99999"])
    await assert.rejects(
      open(async () => ({ status: 200 }), { listenAddr }),
      /channels\.feishu\.listenAddr/,
    );
  await assert.rejects(
    open(async () => ({ status: 200 }), { listenAddr: undefined }),
    (error) => error instanceof ChannelError && /Set channels\.feishu\.listenAddr/.test(error.message),
  );
});

test("reads addresses as the Go maxclaw wrote them", () => {
  assert.deepEqual(parseListenAddr("127.0.0.1:18793"), { host: "127.0.0.1", port: 18_793 });
  assert.deepEqual(parseListenAddr(":18793"), { host: "0.0.0.0", port: 18_793 });
  assert.deepEqual(parseListenAddr("[::1]:80"), { host: "::1", port: 80 });
  for (const text of ["", "127.0.0.1", "a:b", "a:70000", "http://x:1", "::1:80"])
    assert.equal(parseListenAddr(text), undefined, text);
});

test("a path of the gateway's server belongs to one channel at a time", async () => {
  const paths = new OpenWebhookPaths();
  const options = { name: "feishu", paths, log: silentLog };
  const hook = await openWebhook(options, async () => ({ status: 200 }));
  assert.equal(hook.port, undefined);
  assert.notEqual(paths.find("feishu"), undefined);
  assert.equal(paths.find("slack"), undefined);
  await assert.rejects(
    openWebhook(options, async () => ({ status: 200 })),
    /\/hooks\/feishu/,
  );
  await hook[Symbol.asyncDispose]();
  assert.equal(paths.find("feishu"), undefined);
});
