import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { logIn } from "../../../src/mcp/auth/login.js";
import { createLoginStore } from "../../../src/mcp/auth/oauth.js";
import { type FakeOAuthOptions, startFakeOAuth } from "../../support/fakes/mcp/fake-oauth.js";
import { tempHome } from "../../support/worlds/gateway.js";
import { openTestServers, settingsOf } from "../../support/worlds/tools/mcp.js";
import { createToolPlace } from "../../support/worlds/tools/tool-context.js";

const noAbort = new AbortController().signal;

async function start(options: FakeOAuthOptions) {
  const home = await tempHome();
  const oauth = await startFakeOAuth(options);
  const server = settingsOf("guarded", { url: oauth.url });
  const store = createLoginStore(home);
  const told: (string | undefined)[] = [];
  const login = async (): Promise<boolean> => {
    const open = (url: URL, scope?: string): void => {
      told.push(scope);
      void fetch(url).catch(() => undefined);
    };
    return await logIn(server, { version: "1", store, port: 0, open, timeoutMs: 20_000 }, noAbort);
  };
  return {
    home,
    oauth,
    server,
    store,
    told,
    login,
    [Symbol.asyncDispose]: () => oauth[Symbol.asyncDispose](),
  };
}

const freeStart = { initialize: "" };

describe("a login at an MCP server that is free to begin with", () => {
  it("is made where only listing the tools wants a token", async () => {
    await using w = await start({ needs: { ...freeStart, "tools/list": "read" } });
    assert.equal(await w.login(), true);
    assert.deepEqual(w.oauth.scopes, ["read"]);
    assert.equal((await w.store.read(w.server))?.tokens?.scope, "read");
  });

  it("is made where only calls want one, as the server says where to log in", async () => {
    await using w = await start({ needs: { ...freeStart, "tools/list": "", "tools/call": "write" } });
    assert.equal(await w.login(), true);
  });

  it("is not made where nothing wants one", async () => {
    await using w = await start({ needs: { ...freeStart, "tools/list": "" }, isSecretive: true });
    assert.equal(await w.login(), false);
    assert.deepEqual(w.oauth.scopes, []);
  });

  it("is made again with the larger scope that listing the tools wants, and the person is told which", async () => {
    await using w = await start({ needs: { initialize: "basic", "tools/list": "basic lists" } });
    assert.equal(await w.login(), true);
    assert.deepEqual(w.oauth.scopes, ["basic", "basic lists"]);
    assert.deepEqual(w.told, [undefined, "basic lists"]);
  });

  it("ends where a larger scope is never given, and keeps what it has if that is the first", async () => {
    await using w = await start({ needs: { ...freeStart, "tools/list": "admin" }, givesNothing: true });
    await assert.rejects(w.login(), /guarded needs more rights than this login has \(scope admin\)/);
    assert.equal(w.oauth.scopes.length, 1);
    assert.notEqual((await w.store.read(w.server))?.tokens, undefined);
  });

  it("a call that wants more is told to the model and to people, and the next login asks for both scopes", async () => {
    await using w = await start({ needs: { ...freeStart, "tools/list": "basic", "tools/call": "write" } });
    assert.equal(await w.login(), true);
    await using open = await openTestServers([w.server], w.home);
    using place = createToolPlace();
    await open.waitFor("guarded", "connected");
    const call = async (): Promise<string> => {
      const tool = open.servers.find("mcp_guarded_secret");
      assert.ok(tool);
      return (await place.run(tool, {})).text;
    };
    const hint = /needs more rights than this login has \(scope write\): log in with "maxclaw mcp login guarded"/;
    assert.match(await call(), hint);
    assert.match(open.servers.status()[0]?.wants ?? "", hint);
    assert.equal(open.servers.status()[0]?.state, "connected");
    // Nobody is there to log in: that spends no renewal either.
    assert.deepEqual(w.oauth.seen, ["register", "token authorization_code"]);
    assert.equal(await w.login(), true);
    assert.deepEqual(w.oauth.scopes, ["basic", "basic write"]);
    open.servers.reconnect("guarded");
    await open.waitFor("guarded", "connected", 2);
    assert.equal(await call(), "the secret");
    assert.equal(open.servers.status()[0]?.wants, undefined);
  });

  it("a call that needs a login where none was made leads to one", async () => {
    const needs = { ...freeStart, "tools/list": "", "tools/call": "write" };
    await using w = await start({ needs, isSecretive: true });
    assert.equal(await w.login(), false);
    await using open = await openTestServers([w.server], w.home);
    using place = createToolPlace();
    await open.waitFor("guarded", "connected");
    const tool = open.servers.find("mcp_guarded_secret");
    assert.ok(tool);
    assert.match((await place.run(tool, {})).text, /needs a login \(scope write\): log in with/);
    assert.equal(await w.login(), true);
    assert.deepEqual(w.oauth.scopes, ["write"]);
  });
});

describe("the answer of an authorization server", () => {
  it("counts when it says who it is, as promised", async () => {
    await using w = await start({ iss: "right" });
    assert.equal(await w.login(), true);
  });

  it("does not count when it goes by the name of a login server elsewhere", async () => {
    await using w = await start({ issuer: "https://login.example" });
    await assert.rejects(
      w.login(),
      /The login server at http:\/\/127\.0\.0\.1:\d+\/? says that it is https:\/\/login\.example/,
    );
    assert.deepEqual(w.oauth.seen, [], "it is neither registered with nor asked");
  });

  for (const [iss, why] of [
    ["wrong", /refused: the answer is from https:\/\/other\.example, but http:\/\/127\.0\.0\.1:\d+ was asked/],
    ["absent", /refused: the answer does not say which login server it is from/],
  ] as const)
    it(`does not count when who it is from is ${iss}`, async () => {
      await using w = await start({ iss });
      await assert.rejects(w.login(), why);
      assert.ok(!w.oauth.seen.some((one) => one.startsWith("token")), "its code is not used");
      assert.equal(await w.store.read(w.server), undefined);
    });
});
