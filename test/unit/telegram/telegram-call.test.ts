import assert from "node:assert/strict";
import { getEventListeners, once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { openApi, toGrammySignal } from "../../../src/channels/telegram/api.js";
import { pollError, sendError } from "../../../src/channels/telegram/telegram-error.js";
import { textsOf } from "../../support/worlds/channels/channel-kit.js";

const token = "4242:call-secret";

async function platform(answer: RequestListener) {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server that listens on TCP has an object as its address.
  const apiRoot = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { api, upload } = await openApi({ token, apiRoot });
  const stopped = new AbortController();
  return {
    api,
    upload,
    stopped,
    signal: toGrammySignal(stopped.signal),
    [Symbol.asyncDispose]: async () => {
      server.close().closeAllConnections();
      await once(server, "close");
    },
  };
}

const fails = async (call: Promise<unknown>): Promise<unknown> =>
  await call.then(
    () => assert.fail("It did not fail"),
    (error: unknown) => error,
  );

test("a call and an upload say the same to Telegram, on connections that are kept, and leave nothing at the signal", async () => {
  const seen: unknown[] = [];
  const ports = new Set<number | undefined>();
  await using one = await platform(async (request, response) => {
    ports.add(request.socket.remotePort);
    const body = (await request.toArray()).join("");
    seen.push([
      request.method,
      request.url,
      request.headers["content-type"]?.split(";")[0],
      /gr\u00fcn|f\.txt/.exec(body)?.[0],
    ]);
    response.end(JSON.stringify({ ok: true, result: { message_id: seen.length } }));
  });
  const sent = await one.api.sendMessage("7", "gr\u00fcn", undefined, one.signal);
  const file = one.upload(Buffer.from("x"), "f.txt");
  await one.api.sendDocument("7", file, undefined, one.signal);
  assert.deepEqual(seen, [
    ["POST", `/bot${token}/sendMessage`, "application/json", "gr\u00fcn"],
    ["POST", `/bot${token}/sendDocument`, "multipart/form-data", "f.txt"],
  ]);
  assert.deepEqual([sent.message_id, ports.size, getEventListeners(one.stopped.signal, "abort").length], [1, 1, 0]);
});

test("what Telegram refuses is what grammY says of it", async () => {
  await using one = await platform((_, response) => {
    response.writeHead(429).end('{"ok":false,"error_code":429,"description":"Slow","parameters":{"retry_after":3}}');
  });
  const { outcome, retryAfterMs } = sendError(await fails(one.api.sendMessage("7", "x", {}, one.signal)), undefined);
  assert.deepEqual([outcome, retryAfterMs], ["refused", 3000]);
});

test("an answer that is cut halfway leaves open whether the message arrived", async () => {
  await using one = await platform((request, response) => {
    response.writeHead(200, { "content-length": 100 }).write('{"ok":');
    setImmediate(() => request.socket.destroy());
  });
  const failure = sendError(await fails(one.api.sendMessage("7", "x", {}, one.signal)), undefined);
  assert.deepEqual([failure.outcome, failure.retryable], ["unknown", true]);
  assert.match(failure.message, /connection to Telegram broke/);
});

test("an abort ends a call, and its connection, while it waits and while its answer comes", async () => {
  for (const begun of [false, true]) {
    const closed: Promise<unknown>[] = [];
    let resolve = (): void => {};
    const asked = new Promise<void>((done) => (resolve = done));
    await using one = await platform((request, response) => {
      closed.push(new Promise((done) => request.socket.once("close", done)));
      if (begun) response.write('{"ok":');
      resolve();
    });
    const failing = fails(one.api.sendMessage("7", "x", {}, one.signal));
    await asked;
    one.stopped.abort();
    assert.ok((await failing) instanceof Error);
    await Promise.all(closed);
    assert.ok((await fails(one.api.sendMessage("7", "x", {}, one.signal))) instanceof Error);
    assert.equal(closed.length, 1, "what is aborted before it began does not leave");
  }
});

test("who is not Telegram, and who is not there, is said without the token", async () => {
  await using page = await platform((_, response) => void response.writeHead(502).end("<h1>Bad gateway</h1>"));
  const wrong = pollError(await fails(page.api.getMe(page.signal)), false);
  assert.match(wrong.message, /what answers there is not Telegram: check channels.telegram.apiRoot/);
  const { api } = await openApi({ token, apiRoot: "http://127.0.0.1:1" });
  const nobody = sendError(await fails(api.sendMessage("7", "x", {}, page.signal)), undefined);
  assert.deepEqual([nobody.outcome, /nothing listens at 127.0.0.1:1/.test(nobody.message)], ["refused", true]);
  for (const error of [wrong, nobody]) assert.doesNotMatch(textsOf(error), /call-secret/);
});
