import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import {
  type Call,
  callPlatform,
  jsonOf,
  retryAfterMs,
  statusError,
  withoutMessage,
} from "../../../../src/channels/wire/call.js";
import { freePort } from "../../../support/fakes/network/free-port.js";
import { failureOf, never, textsOf } from "../../../support/worlds/channels/channel-kit.js";

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A loopback server that listens has a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/bot-secret/send`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function call(url: string, more: Partial<Call> = {}, signal = never) {
  return callPlatform({ title: "Slack", url, body: "{}", timeoutMs: 500, maxBytes: 1000, ...more }, signal);
}

test("resolves with any whole answer, and follows no redirect", async () => {
  await using server = await serve((request, response) => {
    if (request.url?.endsWith("/send")) response.writeHead(302, { location: "/stolen" }).end();
    else response.end("stolen");
  });
  const { status } = await call(server.url);
  assert.equal(status, 302);
});

test("says whether the request may have arrived, and never holds the address", async () => {
  await using cut = await serve((request) => void request.socket.destroy());
  await using silent = await serve(() => {});
  await using large = await serve((_request, response) => void response.end("x".repeat(1001)));
  const nowhere = `http://127.0.0.1:${await freePort()}/bot-secret/send`;
  const aborted = () => {
    const stop = new AbortController();
    setImmediate(() => stop.abort());
    return call(silent.url, {}, stop.signal);
  };
  const failures = [
    [() => call(nowhere), "refused", true],
    [() => call("http://nowhere.invalid/bot-secret"), "refused", true],
    // A port that `fetch` never opens.
    [() => call("http://127.0.0.1:9/bot-secret"), "refused", true],
    [() => call(cut.url, { headers: { authorization: "Bearer bot-secret”" } }), "refused", true],
    [() => call(cut.url), "unknown", true],
    [() => call(silent.url, { timeoutMs: 50 }), "unknown", true],
    [() => call(large.url), "unknown", false],
    [aborted, "unknown", true],
    [() => call(silent.url, {}, AbortSignal.abort()), "refused", true],
  ] as const;
  for (const [calling, outcome, retryable] of failures) {
    const failure = await failureOf(calling());
    assert.deepEqual([failure.outcome, failure.retryable], [outcome, retryable], failure.message);
    assert.ok(!textsOf(failure).includes("bot-secret"), failure.message);
  }
});

test("says why nothing was sent, and of a login not that it may have arrived", async () => {
  await using cut = await serve((request) => void request.socket.destroy());
  const port = await freePort();
  const said = async (url: string) => (await failureOf(call(url))).message;
  assert.equal(
    await said(`http://127.0.0.1:${port}/`),
    `Slack cannot be reached: nothing listens at 127.0.0.1:${port} (ECONNREFUSED).`,
  );
  assert.equal(
    await said("http://127.0.0.1:9/"),
    "Slack cannot be reached: no web request is ever sent to this port (bad port).",
  );
  const broke = await failureOf(call(cut.url));
  assert.match(broke.message, /: the request may have arrived\.$/);
  const ofLogin = withoutMessage(broke);
  assert.ok(ofLogin instanceof Error);
  assert.match(ofLogin.message, /^The connection to Slack broke \(.+\)\.$/);
});

test("reads what a status means", () => {
  const answer = (status: number, headers: Record<string, string> = {}) => ({
    status,
    headers: new Headers(headers),
    body: new Uint8Array(),
  });
  const meaning = (status: number, headers?: Record<string, string>) => {
    const { outcome, retryable, retryAfterMs: waitMs } = statusError("Slack", answer(status, headers));
    return [outcome, retryable, waitMs];
  };
  assert.deepEqual(meaning(400), ["refused", false, undefined]);
  assert.deepEqual(meaning(401), ["refused", true, undefined]);
  assert.deepEqual(meaning(413), ["refused", false, undefined]);
  // Without the platform's own words it is nothing about the message: a proxy, or a server in trouble.
  for (const status of [403, 404]) assert.deepEqual(meaning(status), ["refused", true, undefined]);
  assert.deepEqual(meaning(429, { "retry-after": "3" }), ["refused", true, 3000]);
  assert.deepEqual(meaning(502), ["unknown", true, undefined]);
  assert.deepEqual(meaning(503), ["refused", true, undefined]);
  assert.throws(() => jsonOf("Slack", { ...answer(200), body: Buffer.from("<html>") }), /is not Slack/);
  assert.deepEqual(jsonOf("Slack", { ...answer(200), body: Buffer.from('{"ok":true}') }), { ok: true });
  const now = Date.parse("2026-11-23T10:00:00Z");
  assert.equal(retryAfterMs("Mon, 23 Nov 2026 10:00:05 GMT", now), 5000);
  for (const value of ["99999999999", "Mon, 23 Nov 2099 10:00:05 GMT"])
    assert.equal(retryAfterMs(value, now), 86_400_000, "a day is the most that a platform can ask for");
  for (const value of [null, "", "soon"]) assert.equal(retryAfterMs(value, now), undefined);
});
