import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { WebSocket } from "ws";
import { ConfigError } from "../../../src/errors.js";
import { openHttpServer } from "../../../src/http/server.js";
import { silentLog } from "../../../src/log.js";
import { createMemoryGateway } from "../../support/worlds/http/http-api.js";
import { refusedUpgrade } from "../../support/worlds/http/http-clients.js";
import { openTestServer, postJson, rawRequest, rawSocket } from "../../support/worlds/http/http-server.js";

const errorOf = (text: string): { error: string; code: string } => JSON.parse(text);

test("on loopback a request without a token is served under each of our own names", async () => {
  await using served = await openTestServer();
  const { port } = served.server;
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`]) {
    const answer = await rawRequest(port, { path: "/api/status", headers: { host } });
    assert.equal(answer.status, 200, host);
  }
});

test("a foreign name that points at this machine is refused, for the API, the page and the WebSocket", async () => {
  await using served = await openTestServer();
  const { port } = served.server;
  const hosts = [
    "evil.example",
    `evil.example:${port}`,
    "127.0.0.1:1",
    "127.0.0.1",
    `127.0.0.1.evil.example:${port}`,
    `localhost.evil.example:${port}`,
  ];
  for (const host of hosts) {
    for (const path of ["/api/status", "/", "/api/nothing"]) {
      const answer = await rawRequest(port, { path, headers: { host } });
      assert.equal(answer.status, 403, `${host} ${path}`);
      assert.equal(errorOf(answer.text).code, "forbidden");
    }
    assert.equal(await refusedUpgrade(`${served.url}/ws`, { headers: { host } }), 403);
  }
  assert.equal((await rawRequest(port, { path: "/health", headers: { host: "probe" } })).status, 200);
});

test("pages from elsewhere are refused, our own page and allowed origins are served", async () => {
  await using served = await openTestServer({ allowedOrigins: ["https://desk.example/"] });
  const { url, gateway } = served;
  for (const origin of [
    "https://evil.example",
    "null",
    url.replace("http", "https"),
    "http://127.0.0.1:1",
    `${url}.evil.example`,
  ]) {
    const answer = await postJson(`${url}/api/message`, { content: "hi" }, { origin });
    assert.equal(answer.status, 403, origin);
    assert.equal(await refusedUpgrade(`${url}/ws`, { origin }), 403, origin);
  }
  assert.equal(gateway.sent.length, 0);
  assert.equal((await postJson(`${url}/api/message`, { content: "hi" }, { origin: url })).status, 200);
  const allowed = await postJson(`${url}/api/message`, { content: "hi" }, { origin: "https://desk.example" });
  assert.equal(allowed.status, 200);
  assert.equal(allowed.headers.get("access-control-allow-origin"), "https://desk.example");
  const preflight = await fetch(`${url}/api/message`, {
    method: "OPTIONS",
    headers: { origin: "https://desk.example", "access-control-request-headers": "content-type,x-stainless-lang" },
  });
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers.get("access-control-allow-headers"), "content-type,x-stainless-lang");
});

test("a browser that leaves Origin out but names the relation is refused too", async () => {
  await using served = await openTestServer();
  const { port } = served.server;
  const statusOf = async (site: string): Promise<number> =>
    (await rawRequest(port, { path: "/api/status", headers: { host: `127.0.0.1:${port}`, "sec-fetch-site": site } }))
      .status;
  assert.deepEqual(
    await Promise.all(["cross-site", "same-site", "same-origin", "none"].map(statusOf)),
    [403, 403, 200, 200],
  );
  const link = { host: `127.0.0.1:${port}`, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
  assert.equal((await rawRequest(port, { path: "/", headers: link })).status, 200, "a link may lead here");
  assert.equal(
    (await rawRequest(port, { method: "POST", path: "/api/sessions/webui:1/stop", headers: link })).status,
    403,
  );
});

test("a foreign form cannot post: bodies that are not declared as JSON are refused", async () => {
  await using served = await openTestServer();
  for (const type of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
  ]) {
    const answer = await fetch(`${served.url}/api/message`, {
      method: "POST",
      headers: { "content-type": type },
      body: '{"content":"hi"}',
    });
    assert.equal(answer.status, 415, type);
    assert.equal(errorOf(await answer.text()).code, "unsupported_media_type");
  }
  const stop = await fetch(`${served.url}/api/sessions/webui:1/stop`, { method: "POST", body: "x" });
  assert.equal(stop.status, 415, "also where the body is not read");
  assert.equal(served.gateway.sent.length, 0);
});

test("with a token set everything but probes and the page needs it, and who has none learns no paths", async () => {
  await using served = await openTestServer({ token: "s3cret-token" });
  const { url } = served;
  const statusOf = async (path: string, token?: string): Promise<number> =>
    (await fetch(`${url}${path}`, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } })).status;
  assert.equal(await statusOf("/api/status"), 401);
  assert.equal(await statusOf("/api/nothing"), 401);
  assert.equal(await statusOf("/metrics"), 401);
  assert.equal(await statusOf("/api/status", "s3cret-tokeN"), 401);
  assert.equal(await statusOf("/api/status", "s3cret"), 401);
  assert.equal(
    await statusOf("/api/status?token=s3cret-token"),
    401,
    "the query counts only where headers cannot be set",
  );
  assert.equal(await statusOf("/api/status", "s3cret-token"), 200);
  assert.deepEqual(await Promise.all(["/health", "/ready", "/"].map((path) => statusOf(path))), [200, 200, 200]);
  const refused = await fetch(`${url}/api/status`);
  assert.equal(refused.headers.get("www-authenticate"), "Bearer");
  assert.equal(errorOf(await refused.text()).code, "unauthorized");
  assert.equal(await refusedUpgrade(`${url}/ws`), 401);
  assert.equal(await refusedUpgrade(`${url}/ws?token=wrong`), 401);
  const stream = await fetch(`${url}/api/sessions/webui:1/stream?token=s3cret-token`);
  assert.equal(stream.status, 200);
  await stream.body?.cancel();
  assert.equal(
    (
      await rawRequest(served.server.port, {
        path: "/api/status",
        headers: { host: "chat.example", authorization: "Bearer s3cret-token" },
      })
    ).status,
    200,
    "behind a proxy the name is another",
  );
});

test("a WebSocket takes the token as the name of a protocol, and does not say it back", async () => {
  await using served = await openTestServer({ token: "s3cret tökèn" });
  const carrier = (token: string): string => `maxclaw.token.${Buffer.from(token).toString("base64url")}`;
  const open = async (protocols: string[]): Promise<string> => {
    const socket = new WebSocket(`${served.url.replace("http", "ws")}/ws`, protocols);
    try {
      await once(socket, "open");
      return socket.protocol;
    } finally {
      socket.terminate();
    }
  };
  assert.equal(await open(["maxclaw", carrier("s3cret tökèn")]), "maxclaw");
  assert.equal(await open([carrier("s3cret tökèn"), "maxclaw"]), "maxclaw", "in whatever order they come");
  await assert.rejects(open(["maxclaw", carrier("s3cret")]), /401/);
  await assert.rejects(open(["maxclaw"]), /401/);
  await assert.rejects(open(["maxclaw", "maxclaw.token."]), /401/);
  const status = await fetch(`${served.url}/api/status`, {
    headers: { "sec-websocket-protocol": carrier("s3cret tökèn") },
  });
  assert.equal(status.status, 401, "it counts for a WebSocket only");
});

test("an address that others can reach needs a token", async () => {
  const { api } = createMemoryGateway();
  const { signal } = new AbortController();
  const open = (host: string, token?: string) =>
    openHttpServer({ host, port: 0, token, webRoot: "/nowhere", log: silentLog }, api, signal);
  for (const host of ["0.0.0.0", "::"])
    await assert.rejects(open(host), (error) => error instanceof ConfigError && /gateway\.token/.test(error.message));
  // What is not ours, or only looks like loopback, is not listened on either.
  await assert.rejects(open("192.0.2.5"), /192\.0\.2\.5 is not an address of this machine/);
  await assert.rejects(open("127.0.0.1.invalid"));
  await assert.rejects(open("127.0.0.1", ""), ConfigError);
  await using bound = await open("0.0.0.0", "s3cret-token");
  assert.equal((await fetch(`http://127.0.0.1:${bound.port}/api/status`)).status, 401);
});

test("a port that is taken is named, with what to do", async () => {
  await using first = await openTestServer();
  const { port } = first.server;
  await assert.rejects(
    openTestServer({ port }),
    (error) =>
      error instanceof ConfigError && error.message.includes(`port ${port}`) && /gateway\.port/.test(error.message),
  );
  await assert.rejects(openTestServer({ port: 70_000 }), ConfigError);
  await assert.rejects(openTestServer({ host: "203.0.113.7", token: "t" }), ConfigError);
});

test("what is not a request, too large a head or too slow a body gets JSON with the right status", async () => {
  await using served = await openTestServer({ timings: { headersTimeoutMs: 300, requestTimeoutMs: 400 } });
  const { port } = served.server;
  const head = `POST /api/message HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n`;
  const [slow, silent, garbage, long] = await Promise.all([
    rawSocket(port, `${head}{"con`),
    rawSocket(port, "GET /api/status HTTP/1.1\r\nHo"),
    rawSocket(port, "what is this\r\n\r\n"),
    rawSocket(port, `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX: ${"x".repeat(20_000)}\r\n\r\n`),
  ]);
  assert.match(slow, /^HTTP\/1\.1 408 .*"code":"timeout"/s);
  assert.match(silent, /^HTTP\/1\.1 408 /);
  assert.match(garbage, /^HTTP\/1\.1 400 .*"code":"bad_request"/s);
  assert.match(long, /^HTTP\/1\.1 431 /);
  assert.equal(served.gateway.sent.length, 0);
});
