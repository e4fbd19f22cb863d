import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { openAIConfig, startGateway } from "../../../support/worlds/gateway.js";

const token = "a-token-that-is-long-enough-1";

async function start(more: Record<string, unknown> = {}) {
  const model = await startFakeOpenAI({ answer: { text: "Noted." } });
  const gateway = await startGateway({
    config: openAIConfig(model.apiBase, { gateway: { token }, tools: { exec: { sandbox: "off" } }, ...more }),
  });
  const base = new URL(gateway.gateway.pageUrl).origin;
  const call = async (method: string, path: string, body?: object, mark = "") => {
    const response = await fetch(`${base}/api/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(mark === "" ? {} : { "if-match": mark }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, mark: response.headers.get("etag") ?? "", answer: Object(await response.json()) };
  };
  return {
    gateway,
    call,
    tried: async (kind: string, argument: string, more: object = {}) => {
      const { status, answer } = await call("POST", "policy/test", { kind, argument, ...more });
      assert.equal(status, 200, JSON.stringify(answer));
      return answer;
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

test("rules are written in their order, count at once, and what they mean is asked of the policy itself", async () => {
  await using t = await start();
  assert.equal((await t.tried("command", "df -h")).verdict, "ask");
  const { mark, answer } = await t.call("GET", "policy/rules");
  assert.deepEqual([answer.rules, answer.executionMode], [[], "ask"]);
  const allow = { tool: "exec", argument: "df *", verdict: "allow" };
  const deny = { tool: "exec", argument: "df /secret*", role: "guest", verdict: "deny" };
  const written = await t.call("PUT", "policy/rules", { rules: [allow, deny] }, mark);
  assert.deepEqual([written.status, written.answer.rules], [200, [allow, deny]]);
  assert.deepEqual(await t.tried("command", "df -h"), { verdict: "allow", isByRule: true, isSandboxed: false });
  const guest = await t.tried("command", "df /secret", { role: "guest" });
  assert.equal(guest.verdict, "deny");
  assert.match((await t.tried("command", "df -h; id")).because, /without a sandbox/);

  const late = await t.call("PUT", "policy/rules", { rules: [] }, mark);
  assert.deepEqual([late.status, late.answer.code], [412, "changed"]);
  const never = { tool: "exec", argument: "npm *", verdict: "allow" };
  const { answer: warned } = await t.call("PUT", "policy/rules", { rules: [never] }, written.mark);
  assert.match(warned.problems.join(), /^policy\.rules\[0\] allows no command/);
  assert.equal((await t.tried("command", "df -h")).verdict, "ask", "the rule is gone");
  for (const rule of [{ verdict: "perhaps" }, { tool: "exec" }, { tool: "", verdict: "ask" }, { nothing: "x" }]) {
    const { status, answer: said } = await t.call("PUT", "policy/rules", { rules: [rule] });
    assert.equal(status, 400, JSON.stringify(said));
    assert.match(said.error, /policy\.rules/);
  }
  assert.deepEqual((await t.call("GET", "policy/rules")).answer.rules, [never], "nothing wrong is written");
});

test("comments of the file stay when the rules and the mode are written", async () => {
  await using t = await start();
  const file = join(t.gateway.home, "config.json");
  const config = await readFile(file, "utf8");
  await writeFile(file, config.replace("{", "{\n  // Ada has written this.\n"));
  assert.equal((await t.call("PUT", "policy/mode", { executionMode: "safe" })).status, 200);
  assert.equal((await t.call("PUT", "policy/rules", { rules: [{ verdict: "ask" }] })).status, 200);
  assert.match(await readFile(file, "utf8"), /Ada has written this/);
  assert.match((await t.tried("write", "notes/a.md")).because, /safe/);
  assert.equal((await t.call("PUT", "policy/mode", { executionMode: "never" })).status, 400);
});

test("paths, addresses, people and tools are tried as the policy sees them", async () => {
  await using t = await start({ policy: { rules: [{ argument: "*.internal.example.org", verdict: "deny" }] } });
  await mkdir(join(t.gateway.workspace, "notes"), { recursive: true });
  assert.equal((await t.tried("read", "notes")).verdict, "allow");
  assert.match((await t.tried("write", "AGENTS.md")).because, /steers|every later/i);
  assert.equal((await t.tried("write", "../config.json")).verdict, "deny");
  assert.equal((await t.tried("read", join(t.gateway.home, "config.json"))).verdict, "deny");
  assert.equal((await t.tried("read", "MEMORY/../AGENTS.md", { role: "guest", chat: "group" })).verdict, "deny");
  assert.equal((await t.tried("fetch", "https://example.org/")).verdict, "allow");
  assert.equal((await t.tried("fetch", "https://example.org/", { chat: "group" })).verdict, "ask");
  assert.match((await t.tried("fetch", "https://a.internal.example.org/x")).because, /policy\.rules\[0\]/);
  assert.match((await t.tried("fetch", "http://127.0.0.1:8080/")).because, /private network/);
  assert.equal((await t.tried("command", "ls", { role: "guest" })).verdict, "deny");
  for (const [body, status] of [
    [{ kind: "fetch", argument: "ftp://example.org" }, 400],
    [{ kind: "call", argument: "{", tool: "message" }, 400],
    [{ kind: "call", argument: "{}", tool: "no_such_tool" }, 404],
    [{ kind: "dance", argument: "" }, 400],
  ] as const)
    assert.equal((await t.call("POST", "policy/test", body)).status, status, JSON.stringify(body));
  assert.equal(t.gateway.gateway.api.listQuestions().length, 0, "nobody is asked");
});

test("the web tools are switched by their settings, and stay in the list", async () => {
  await using t = await start();
  const of = async (name: string) =>
    (await t.call("GET", "tools")).answer.tools.find((tool: { name: string }) => tool.name === name);
  for (const name of ["web_search", "web_fetch"]) {
    assert.deepEqual([(await of(name)).isOn, (await of(name)).canSwitch], [true, true]);
    assert.deepEqual((await t.call("PUT", `tools/${name}`, { isOn: false })).answer.restart, []);
    assert.equal((await of(name)).isOn, false);
    assert.equal(t.gateway.gateway.api.tools?.list().find((tool) => tool.name === name)?.isOn, false);
    await t.call("PUT", `tools/${name}`, { isOn: true });
    assert.equal((await of(name)).isOn, true);
  }
  assert.equal((await of("read_file")).canSwitch, false);
  assert.equal((await t.call("PUT", "tools/read_file", { isOn: false })).status, 404);
  assert.equal((await t.call("PUT", "tools/__proto__", { isOn: false })).status, 404);
});

test("without a token nobody loosens the policy over HTTP", async () => {
  await using t = await start({ gateway: {} });
  const { status, answer } = await t.call("PUT", "policy/rules", { rules: [{ verdict: "allow" }] });
  assert.deepEqual([status, answer.code], [403, "forbidden"]);
  assert.equal((await t.call("PUT", "policy/mode", { executionMode: "auto" })).status, 403);
  assert.equal((await t.call("PUT", "policy/mode", { executionMode: "safe" })).status, 200);
});
