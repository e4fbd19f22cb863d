import assert from "node:assert/strict";
import { test } from "node:test";
import { WebSocket } from "ws";
import { basePath } from "../../../../src/config/site-values.js";
import { readSse } from "../../../support/worlds/http/http-clients.js";
import { openTestServer, postJson, rawRequest } from "../../../support/worlds/http/http-server.js";

const token = "a-token-of-more-than-twenty-characters";
const site = () => ({ basePath: "/assistant", trustedProxies: [], sessionDays: 90 });

test("everything is below the base path, and also where a proxy takes the path away", async () => {
  await using served = await openTestServer({ token, site });
  const headers = { authorization: `Bearer ${token}` };
  for (const base of ["/assistant", ""]) {
    const statusOf = async (path: string): Promise<number> =>
      (await fetch(`${served.url}${base}${path}`, { headers })).status;
    for (const path of ["/", "/assets/index-Abc12345.js", "/health", "/ready", "/metrics", "/api/status", "/v1/models"])
      assert.equal(await statusOf(path), 200, base + path);
    assert.equal(await statusOf("/api/nothing"), 404);
    assert.equal((await fetch(`${served.url}${base}/api/status`)).status, 401, "and needs the token there too");
    assert.equal((await fetch(`${served.url}${base}/metrics`)).status, 401);
    const stream = await fetch(`${served.url}${base}/api/sessions/webui:1/stream?from_sequence=0`, { headers });
    assert.equal(stream.status, 200);
    served.gateway.tell("webui:1", "session_title_generated", { title: "Below", generated_by: "user" });
    assert.ok((await readSse(stream, (all) => all.length > 0)).length > 0);
    const socket = new WebSocket(`${served.url.replace("http", "ws")}${base}/ws`, { headers });
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    socket.terminate();
    const openAI = await fetch(`${served.url}${base}/v1/models/none`, { headers });
    assert.equal(typeof ((await openAI.json()) as { error: unknown }).error, "object", "errors in OpenAI's form");
  }
});

test("the base without a slash leads to the page below it, and only from there", async () => {
  await using served = await openTestServer({ token, site });
  const ask = (path: string, method = "GET") =>
    rawRequest(served.server.port, { path, method, headers: { host: "chat.example" } });
  const answer = await ask("/assistant?from=link");
  assert.deepEqual([answer.status, answer.headers.location], [307, "/assistant/?from=link"]);
  for (const path of ["//assistant", "/assistant//evil.example", "//evil.example/assistant", "/%61ssistant"])
    assert.equal((await ask(path)).headers.location, undefined, path);
});

test("no other way to write a path gets past the token", async () => {
  await using served = await openTestServer({ token, site });
  const paths = [
    "/assistantX/api/status",
    "/assistant//api/status",
    "//assistant/api/status",
    "//api/status",
    "/assistant/assistant/api/status",
    "/assistant%2fapi/status",
    "/assistant/api%2fstatus",
    "/%61ssistant/api/status",
    "/assistant/%61pi/status",
    "/assistant/./api/status",
    "/assistant/%2e%2e/api/status",
    "/x/../api/status",
    "/assistant/..%2fapi/status",
    "/assistant\\api/status",
    "/ASSISTANT/api/status",
    "/assistant;x/api/status",
    "/assistant/%6detrics",
    "/assistant/metrics/",
    "http://127.0.0.1/api/status",
  ];
  for (const path of paths) {
    const { status, text, headers } = await rawRequest(served.server.port, { path, headers: { host: "chat.example" } });
    const isPage =
      status === 200 && text.includes("<title>page</title>") && headers["content-type"] === "text/html; charset=utf-8";
    assert.ok(isPage || [400, 401, 404].includes(status), `${path}: ${status}`);
  }
});

test("the cookie is for the base path, also where a trusted proxy has taken it away", async () => {
  const trusted = () => ({ ...site(), trustedProxies: ["127.0.0.1"] });
  await using served = await openTestServer({ token, site: trusted });
  await using open = await openTestServer({ token, site });
  const pathOf = async (url: string): Promise<string> =>
    /; Path=([^;]+)/.exec((await postJson(url, { token })).headers.get("set-cookie") ?? "")?.[1] ?? "";
  assert.equal(await pathOf(`${served.url}/assistant/api/login`), "/assistant");
  assert.equal(await pathOf(`${served.url}/api/login`), "/assistant");
  assert.equal(await pathOf(`${open.url}/assistant/api/login`), "/assistant");
  assert.equal(await pathOf(`${open.url}/api/login`), "/", "who comes past the proxy has the page at the top");
});

test("a base path is one that cannot be taken for the gateway's own", () => {
  const read = (value: string) => basePath.safeParse(value);
  for (const [value, wanted] of [
    ["", ""],
    ["/", ""],
    ["assistant", "/assistant"],
    ["/a/b-c/", "/a/b-c"],
    ["//a", "/a"],
  ])
    assert.equal(read(value ?? "").data, wanted, value);
  for (const value of [
    "/api",
    "/v1/x",
    "/ws",
    "/assets",
    "/../a",
    "/a/..",
    "/.",
    "/a//b",
    "/a?b",
    "/a#b",
    "/a b",
    "/%61",
    "https://a",
  ])
    assert.equal(read(value).success, false, value);
});
