import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { post, type WireAnswer } from "../../../src/providers/wire/post.js";
import { askServer } from "../../../src/providers/wire/refusal.js";

/** A server on loopback, and how many connections it has seen. */
async function serve(t: TestContext, answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer((request, response) => request.resume().on("end", () => answer(request, response)));
  const seen = { connections: 0, closed: 0 };
  server.on("connection", (socket) => {
    seen.connections += 1;
    socket.on("close", () => {
      seen.closed += 1;
      server.emit("gone");
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  // A server that listens on TCP has an object as its address.
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, seen, server };
}

async function textOf({ body }: WireAnswer): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body ?? []) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

test("a body that was compressed without being asked for is read", async (t) => {
  const coders = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
  const { url } = await serve(t, (request, response) => {
    const encoding = String(request.headers["x-want"]) as keyof typeof coders;
    response.writeHead(200, { "content-encoding": encoding }).end(coders[encoding](`Hello in ${encoding}`));
  });
  for (const encoding of Object.keys(coders))
    assert.equal(
      await textOf(await post(url, { body: "{}", headers: { "x-want": encoding } })),
      `Hello in ${encoding}`,
    );
});

test("a body that says it is compressed and is not, or that is cut, is an error for who reads it", async (t) => {
  const { url } = await serve(t, (request, response) => {
    if (request.headers["x-want"] === "cut") {
      response.writeHead(200).write("The beginning");
      setImmediate(() => response.destroy());
    } else response.writeHead(200, { "content-encoding": "gzip" }).end("as it is");
  });
  for (const want of ["cut", "wrong"])
    await assert.rejects(async () => await textOf(await post(url, { body: "{}", headers: { "x-want": want } })), want);
});

test("an answer that was read to its end leaves its connection to the next call", async (t) => {
  const { url, seen } = await serve(t, (_, response) => response.end("Hello"));
  for (let call = 0; call < 3; call++) assert.equal(await textOf(await post(url, { body: "{}" })), "Hello");
  assert.equal(seen.connections, 1);
});

test("a stop before the answer, in its middle, or by who reads no further closes the connection", async (t) => {
  const { url, server, seen } = await serve(t, (request, response) => {
    if (request.url === "/v1") response.writeHead(200).write("The beginning");
  });
  const stop = new AbortController();
  const silent = post(`${url}/silent`, { body: "{}", signal: stop.signal });
  await once(server, "request");
  stop.abort();
  await assert.rejects(silent, { name: "AbortError" });

  const middle = new AbortController();
  const begun = await post(url, { body: "{}", signal: middle.signal });
  await assert.rejects(async () => {
    for await (const _ of begun.body ?? []) middle.abort();
  });

  const left = await post(url, { body: "{}" });
  for await (const _ of left.body ?? []) break;
  while (seen.closed < 3) await once(server, "gone");
});

test("a redirect is an answer and is not followed, and a refused connection tells its code", async (t) => {
  let calls = 0;
  const { url, server } = await serve(t, (_, response) => {
    calls += 1;
    response.writeHead(307, { location: "/elsewhere" }).end();
  });
  const { status, ok, headers } = await post(url, { body: "{}" });
  assert.deepEqual([status, ok, headers.get("location"), calls], [307, false, "/elsewhere", 1]);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await assert.rejects(post(url, { body: "{}" }), { code: "ECONNREFUSED" });
});

test("what was sent is told once it is on its way, and not of a call that was ended at once", async (t) => {
  const { url } = await serve(t, (_, response) => response.end("{}"));
  const told: string[] = [];
  const headers = { own: {}, configured: undefined, onSend: (body: Uint8Array) => told.push(String(body)) };
  const asking = askServer(url, { text: "爱" }, headers, new AbortController().signal);
  assert.deepEqual(told, [], "the request goes first");
  await asking;
  assert.deepEqual(told, ['{"text":"爱"}']);
  const ended = new AbortController();
  const cut = askServer(url, { text: "ended" }, headers, ended.signal);
  ended.abort();
  await assert.rejects(cut, { name: "AbortError" });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(told.length, 1);
});
