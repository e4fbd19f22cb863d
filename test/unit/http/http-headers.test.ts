import assert from "node:assert/strict";
import { test } from "node:test";
import { openTestServer, rawRequest, rawSocket, type TestServer } from "../../support/worlds/http/http-server.js";

/** What each answer says to browsers, whatever it answers. */
function assertGuarded(headers: Headers, what: string, isPage = false): void {
  const policy = headers.get("content-security-policy") ?? "";
  for (const rule of ["default-src 'none'", "object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"])
    assert.ok(policy.includes(rule), `${what}: ${rule} in ${policy}`);
  assert.match(policy, /form-action 'none'/, what);
  assert.doesNotMatch(policy, /unsafe|\*|https?:/, what);
  const expected = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "x-frame-options": "DENY",
    "x-dns-prefetch-control": "off",
  };
  for (const [name, value] of Object.entries(expected)) assert.equal(headers.get(name), value, `${what}: ${name}`);
  // Only the page itself may listen, after the browser has asked.
  const microphone = isPage ? "microphone=(self)" : "microphone=()";
  const permissions = headers.get("permissions-policy") ?? "";
  assert.ok(
    /camera=\(\).*geolocation=\(\)/.test(permissions) && permissions.includes(microphone),
    `${what}: ${permissions}`,
  );
  for (const name of ["set-cookie", "location", "server", "x-powered-by"])
    assert.equal(headers.get(name), null, `${what}: ${name}`);
}

const json = { "content-type": "application/json" };

/** One of each kind of answer, the refusals among them. */
const answers: readonly (readonly [string, number, RequestInit?])[] = [
  ["/", 200],
  ["/assets/index-Abc12345.js", 200],
  ["/chat", 200],
  ["/missing.js", 404],
  ["/health", 200],
  ["/ready", 200],
  ["/metrics", 200],
  ["/ws", 426],
  ["/api/status", 200],
  ["/api/sessions", 200],
  ["/api/sessions/webui:none", 404],
  ["/api/nothing", 404],
  ["/api/status", 405, { method: "DELETE" }],
  ["/api/message", 400, { method: "POST", headers: json, body: "{" }],
  ["/api/message", 415, { method: "POST", headers: { "content-type": "text/plain" }, body: "x" }],
  ["/api/message", 200, { method: "POST", headers: json, body: '{"content":"hi"}' }],
  ["/api/message", 200, { method: "POST", headers: json, body: '{"content":"hi","stream":true}' }],
  ["/api/message", 403, { method: "OPTIONS", headers: { origin: "https://evil.example" } }],
  ["/api/message", 204, { method: "OPTIONS" }],
  ["/v1/models", 200],
  ["/v1/chat/completions", 400, { method: "POST", headers: json, body: "{}" }],
];

async function answerOf({ url }: TestServer, path: string, init?: RequestInit): Promise<Response> {
  const answer = await fetch(url + path, { redirect: "manual", ...init });
  await answer.arrayBuffer();
  return answer;
}

test("every answer, the refusals too, tells browsers to frame, sniff, run, look up and pass on nothing", async () => {
  await using served = await openTestServer();
  for (const [path, status, init] of answers) {
    const answer = await answerOf(served, path, init);
    const what = `${init?.method ?? "GET"} ${path}`;
    assert.equal(answer.status, status, what);
    assertGuarded(answer.headers, what, ["/", "/assets/index-Abc12345.js", "/chat"].includes(path));
  }
  await using guarded = await openTestServer({ token: "s3cret-token" });
  const refused = await answerOf(guarded, "/api/status");
  assert.equal(refused.status, 401);
  assertGuarded(refused.headers, "without the token");
});

test("an event stream has the same headers", async () => {
  await using served = await openTestServer();
  const stream = await fetch(`${served.url}/api/sessions/webui:1/stream`);
  assertGuarded(stream.headers, "stream");
  await stream.body?.cancel();
});

test("what is not a request, and an upgrade that is refused, get them as well", async () => {
  await using served = await openTestServer();
  const { port } = served.server;
  const upgrade = ["GET /ws HTTP/1.1", "Host: evil.example", "Connection: Upgrade", "Upgrade: websocket"];
  const key = ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="];
  const both = await Promise.all([
    rawSocket(port, "what is this\r\n\r\n"),
    rawSocket(port, `${[...upgrade, ...key].join("\r\n")}\r\n\r\n`),
  ]);
  for (const text of both) {
    const lines = text.split("\r\n\r\n")[0]?.split("\r\n").slice(1) ?? [];
    assertGuarded(
      new Headers(lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()])),
      text,
    );
    assert.match(text, /cache-control: no-store/i);
  }
});

test("what the API answers is kept by no cache, and scripts of the page come from its own files only", async () => {
  await using served = await openTestServer();
  for (const [path, , init] of answers) {
    const answer = await answerOf(served, path, init);
    const isOfPage = ["/", "/chat", "/assets/index-Abc12345.js"].includes(path);
    const { headers, status } = answer;
    if (!isOfPage && status !== 204) assert.match(headers.get("cache-control") ?? "", /no-store/, path);
    if (!isOfPage) assert.match(headers.get("content-security-policy") ?? "", /sandbox/, path);
  }
  const page = await answerOf(served, "/");
  const policy = new Map(
    (page.headers.get("content-security-policy") ?? "").split("; ").map((rule) => {
      const [name = "", ...values] = rule.split(" ");
      return [name, values.join(" ")];
    }),
  );
  assert.deepEqual(Object.fromEntries(policy), {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' blob:",
    "media-src": "blob:",
    "connect-src": "'self'",
    "worker-src": "'self'",
    "frame-src": "'self'",
    "manifest-src": "'self'",
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "dompurify page-worker",
  });
});

test("a frame or a picture of another site never gets as far as the API, a link opens the page only", async () => {
  await using served = await openTestServer();
  const { port } = served.server;
  const statusOf = async (path: string, mode: string, dest: string): Promise<number> => {
    const fetchSite = { "sec-fetch-site": "cross-site", "sec-fetch-mode": mode, "sec-fetch-dest": dest };
    return (await rawRequest(port, { path, headers: { host: `127.0.0.1:${port}`, ...fetchSite } })).status;
  };
  assert.equal(await statusOf("/", "navigate", "document"), 200);
  for (const path of ["/api/status", "/api/sessions/webui:1/stream", "/api/uploads/a", "/v1/models", "/metrics"])
    assert.equal(await statusOf(path, "navigate", "document"), 403, path);
  for (const dest of ["iframe", "frame", "object", "embed"])
    assert.equal(await statusOf("/", "navigate", dest), 403, dest);
  assert.equal(await statusOf("/api/status", "no-cors", "image"), 403);
});

test("headers that ask for another method, name or address than the request's own change nothing", async () => {
  await using served = await openTestServer();
  const { port, url } = served.server;
  await fetch(`${url}/api/sessions`, { method: "POST", headers: json, body: '{"key":"webui:1"}' });
  const overrides = ["x-http-method-override", "x-http-method", "x-method-override"];
  const asked = Object.fromEntries(overrides.map((name) => [name, "DELETE"]));
  assert.equal((await fetch(`${url}/api/sessions/webui:1?_method=DELETE`, { headers: asked })).status, 200);
  assert.equal((await fetch(`${url}/api/sessions/webui:1`)).status, 200, "it is still there");
  const forwarded = { "x-forwarded-host": `127.0.0.1:${port}`, forwarded: "for=127.0.0.1", "x-real-ip": "127.0.0.1" };
  const foreign = await rawRequest(port, { path: "/api/status", headers: { host: "evil.example", ...forwarded } });
  assert.equal(foreign.status, 403);
  for (const method of ["TRACE", "PATCH", "PROPFIND"]) {
    const answer = await rawRequest(port, { path: "/api/status", method, headers: { host: `127.0.0.1:${port}` } });
    assert.equal(answer.status, 405, method);
  }
});

test("a body that names __proto__, or a parameter that comes twice, changes nothing else", async () => {
  await using served = await openTestServer({ token: "s3cret-token" });
  const { url, gateway } = served;
  const headers = { ...json, authorization: "Bearer s3cret-token" };
  const hostile = '{"content":"hi","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
  assert.equal((await fetch(`${url}/api/message`, { method: "POST", headers, body: hostile })).status, 200);
  assert.equal(Reflect.get({}, "polluted"), undefined);
  assert.deepEqual(
    Object.keys(gateway.sent[0] ?? {}).filter((key) => /proto|constructor/.test(key)),
    [],
  );
  const twice = await fetch(`${url}/api/sessions?limit=1&limit=100000`, { headers });
  assert.equal(twice.status, 200, "the first one counts");
  const streams = `${url}/api/sessions/webui:1/stream`;
  assert.equal((await fetch(`${streams}?token=wrong&token=s3cret-token`)).status, 401);
  const stream = await fetch(`${streams}?token=s3cret-token&token=wrong`);
  assert.equal(stream.status, 200);
  await stream.body?.cancel();
});

test("a request with two lengths, or with a length beside chunks, is refused", async () => {
  await using served = await openTestServer();
  const { port } = served.server;
  const head = `POST /api/message HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n`;
  for (const lengths of [
    "Content-Length: 5\r\nContent-Length: 6\r\n",
    "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
    "Transfer-Encoding: xchunked\r\n",
  ])
    assert.match(await rawSocket(port, `${head}${lengths}\r\n0\r\n\r\n`), /^HTTP\/1\.1 400 /, lengths);
  assert.equal(served.gateway.sent.length, 0);
});
