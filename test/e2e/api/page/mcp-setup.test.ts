import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../../support/engine/engine-kit.js";
import { startFakeOAuth } from "../../../support/fakes/mcp/fake-oauth.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { openAIConfig, startGateway } from "../../../support/worlds/gateway.js";
import { badServer } from "../../../support/worlds/tools/mcp.js";

const token = "a-token-that-is-long-enough-1";
const secret = "env-secret-value-1";

async function start(more: Record<string, unknown> = {}) {
  const model = await startFakeOpenAI({ answer: { text: "Noted." } });
  const gateway = await startGateway({ config: openAIConfig(model.apiBase, { gateway: { token }, ...more }) });
  const base = new URL(gateway.gateway.pageUrl).origin;
  const file = join(gateway.home, "config.json");
  const call = async (method: string, path: string, body?: object, mark = "") => {
    const response = await fetch(`${base}/api/mcp${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(mark === "" ? {} : { "if-match": mark }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.ok(!text.includes(secret), `${method} ${path} shows the secret`);
    return { status: response.status, answer: Object(JSON.parse(text)) };
  };
  return {
    gateway,
    file,
    call,
    servers: async () => Object(JSON.parse(await readFile(file, "utf8"))).tools?.mcpServers,
    of: async (name: string) =>
      (await call("GET", "")).answer.servers.find((server: { readonly name: string }) => server.name === name),
    reach: async (name: string, state: string) => {
      await until(`${name} is ${state}`, () =>
        (gateway.gateway.api.mcp?.list() ?? []).some((server) => server.name === name && server.state === state),
      );
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

test("a server is tried before it is written: what it offers, or why it cannot be used", async () => {
  await using t = await start();
  const before = await readFile(t.file, "utf8");
  const good = await t.call("POST", "/try", { name: "good", ...badServer("good"), env: { API_KEY: secret } });
  assert.deepEqual(good.answer, { ok: true, tools: ["say", "slow", "die"] });
  const lost = await t.call("POST", "/try", { name: "lost", command: "no-such-program-1" });
  assert.match(lost.answer.error, /no-such-program-1/);
  const dead = await t.call("POST", "/try", { name: "dead", ...badServer("dead") });
  assert.deepEqual([dead.answer.ok, /the database is on fire/.test(dead.answer.error)], [false, true]);
  const blurts = await t.call("POST", "/try", { name: "b", ...badServer("blurts"), env: { API_KEY: secret } });
  assert.equal(blurts.answer.ok, false);
  const nobody = await t.call("POST", "/try", { name: "nobody", url: "http://127.0.0.1:9/mcp" });
  assert.equal(nobody.answer.ok, false);
  for (const body of [
    { name: "../evil", command: "x" },
    { name: "both", command: "x", url: "https://x.test" },
    { name: "neither" },
  ])
    assert.equal((await t.call("POST", "/try", body)).status, 400, JSON.stringify(body));
  assert.equal(await readFile(t.file, "utf8"), before, "nothing is written");
});

test("a server that says nothing is given up after a while, with that reason", async () => {
  await using t = await start();
  const startedAt = performance.now();
  const { answer } = await t.call("POST", "/try", { name: "mute", ...badServer("mute") });
  assert.equal(answer.ok, false);
  assert.match(answer.error, /took more than \d+ s/);
  assert.ok(performance.now() - startedAt < 30_000);
});

test("without a token nothing is tried and no login is begun, because a try runs a program", async () => {
  await using t = await start({ gateway: {} });
  const tried = await t.call("POST", "/try", { name: "good", ...badServer("good") });
  assert.deepEqual([tried.status, tried.answer.code], [403, "forbidden"]);
  assert.equal((await t.call("POST", "/good/login")).status, 403);
});

test("secrets stay when they are not sent again, go when they are taken away, and never to another address", async () => {
  await using t = await start();
  await t.call("POST", "", { name: "good", ...badServer("good"), env: { API_KEY: secret, OTHER: "x" } });
  await t.reach("good", "connected");
  const since = Date.parse((await t.of("good")).since);
  assert.ok(Math.abs(Date.now() - since) < 60_000);
  const stars = "********";
  const changed = { ...badServer("good"), env: { API_KEY: stars, OTHER: null } };
  assert.equal((await t.call("PUT", "/good", { ...changed, disabledTools: ["die"] })).status, 200);
  assert.deepEqual((await t.servers()).good.env, { API_KEY: secret });
  await t.reach("good", "connected");
  await t.call("POST", "", { name: "far", url: "https://one.test/mcp", headers: { Authorization: secret } });
  const moved = await t.call("PUT", "/far", { url: "https://two.test/mcp", headers: { Authorization: stars } });
  assert.deepEqual([moved.status, /given for another address/.test(moved.answer.error)], [400, true]);
  const elsewhere = { name: "far", url: "https://two.test/mcp", headers: { Authorization: stars } };
  assert.equal((await t.call("POST", "/try", elsewhere)).status, 400, "a try does not carry it there either");
  const { status } = await t.call("PUT", "/far", { url: "https://one.test/mcp" }, '"0123456789abcdef0123456789abcdef"');
  assert.equal(status, 412);
});

test("comments of the file stay when a server is added, switched and removed", async () => {
  await using t = await start();
  const config = await readFile(t.file, "utf8");
  await writeFile(t.file, config.replace("{", "{\n  // Ada has written this.\n"));
  await t.call("POST", "", { name: "good", ...badServer("good") });
  await t.reach("good", "connected");
  await t.call("POST", "/good/disable", {});
  await until("it is off", () => t.gateway.gateway.api.mcp?.list().length === 0);
  await t.call("DELETE", "/good");
  assert.match(await readFile(t.file, "utf8"), /Ada has written this/);
  assert.equal((await t.call("DELETE", "/good")).status, 404);
});

test("a person logs in over the page, also from another machine, and the server is connected", async () => {
  await using oauth = await startFakeOAuth();
  await using t = await start();
  await t.call("POST", "", { name: "guarded", url: oauth.url });
  await t.reach("guarded", "off");
  assert.match((await t.of("guarded")).reason, /needs a login/);
  const { answer: begun } = await t.call("POST", "/guarded/login");
  assert.equal(begun.state, "waiting");
  assert.match(begun.url, /code_challenge_method=S256/);
  assert.match(begun.comesBackTo, /^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  assert.equal((await t.call("POST", "/guarded/login/finish", { address: "http://127.0.0.1:1/callback" })).status, 400);
  assert.equal((await t.call("POST", "/guarded/login/finish", { address: "https://evil.test/?code=1" })).status, 400);
  const guessed = `${begun.comesBackTo}?code=stolen&state=guessed`;
  assert.equal((await t.call("POST", "/guarded/login/finish", { address: guessed })).status, 400);
  // The browser of another machine is sent to an address of its own, and its person brings that here.
  const sent = await fetch(begun.url, { redirect: "manual" });
  const address = sent.headers.get("location") ?? "";
  const { answer: done } = await t.call("POST", "/guarded/login/finish", { address });
  assert.deepEqual(done, { state: "done", wasNeeded: true });
  await t.reach("guarded", "connected");
  assert.equal((await t.call("POST", "/guarded/login/finish", { address })).status, 409);
  await t.call("DELETE", "/guarded");
  assert.doesNotMatch(await readFile(join(t.gateway.home, "mcp-auth.json"), "utf8"), /access-/);

  await t.call("POST", "", { name: "again", url: oauth.url });
  await t.reach("again", "off");
  await t.call("POST", "/again/login");
  await t.call("DELETE", "/again/login");
  assert.equal((await t.call("GET", "/again/login")).answer.state, "none");
  assert.equal((await t.call("POST", "/nothing/login")).status, 404);
});

test("a tool that is switched off is not offered to the assistant", async () => {
  await using t = await start({ tools: { mcpServers: { good: { ...badServer("good"), disabledTools: ["die"] } } } });
  await t.reach("good", "connected");
  const tried = (tool: string) =>
    t.gateway.gateway.api.tools?.tryPolicy({ kind: "call", tool, argument: "{}", role: "owner", chat: "dm" });
  assert.equal((await tried("mcp_good_say"))?.verdict, "ask");
  await assert.rejects(async () => await tried("mcp_good_die"), /has no tool mcp_good_die/);
  assert.deepEqual((await t.of("good")).tools, ["say", "slow", "die"], "its owner still sees it");
});
