import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { logIn } from "../../../src/mcp/auth/login.js";
import { createLoginStore } from "../../../src/mcp/auth/oauth.js";
import type { McpServerSettings } from "../../../src/mcp/settings.js";
import { startFakeOAuth } from "../../support/fakes/mcp/fake-oauth.js";
import { tempHome } from "../../support/worlds/gateway.js";
import { openTestServers, settingsOf } from "../../support/worlds/tools/mcp.js";
import { createToolPlace } from "../../support/worlds/tools/tool-context.js";

const noAbort = new AbortController().signal;

/** A person at the browser; `open` gets the address that is shown. */
async function login(
  server: McpServerSettings,
  home: string,
  open: (url: URL) => void = (url) => void fetch(url),
  timeoutMs = 20_000,
): Promise<boolean> {
  const store = createLoginStore(home);
  return await logIn(server, { version: "1", store, port: 0, open, timeoutMs }, noAbort);
}

/** Somebody is logged in, and the gateway's side uses it. */
async function start() {
  const home = await tempHome();
  const oauth = await startFakeOAuth();
  const server = settingsOf("guarded", { url: oauth.url });
  assert.equal(await login(server, home), true);
  const open = await openTestServers([server], home, { limits: { initialiseMs: 3000 } });
  await open.waitFor("guarded", "connected");
  const place = createToolPlace();
  const call = async (): Promise<string> => {
    const tool = open.servers.find("mcp_guarded_secret");
    assert.ok(tool);
    return (await place.run(tool, {})).text;
  };
  return {
    home,
    oauth,
    server,
    open,
    call,
    renewals: () => oauth.seen.filter((one) => one === "token refresh_token").length,
    async [Symbol.asyncDispose]() {
      await open[Symbol.asyncDispose]();
      await oauth[Symbol.asyncDispose]();
      place[Symbol.dispose]();
    },
  };
}

describe("a login at an MCP server", () => {
  it("is renewed once for all calls that find it expired at the same time", async () => {
    await using w = await start();
    w.oauth.expire();
    const answers = await Promise.all(Array.from({ length: 5 }, w.call));
    assert.deepEqual(answers, Array(5).fill("the secret"));
    assert.equal(w.renewals(), 1);
    w.oauth.expire();
    assert.equal(await w.call(), "the secret");
    assert.deepEqual(w.open.states, ["guarded connecting", "guarded connected"]);
  });

  it("that another process has renewed is taken from there", async () => {
    await using w = await start();
    w.oauth.expire();
    await using other = await openTestServers([w.server], w.home);
    await other.waitFor("guarded", "connected");
    assert.equal(await w.call(), "the secret");
    assert.equal(w.renewals(), 1);
  });

  it("that cannot be renewed any more switches the server off by itself, and a new one brings it back", async () => {
    await using w = await start();
    w.oauth.forget();
    assert.match(await w.call(), /its login has expired/);
    await w.open.waitFor("guarded", "off");
    assert.match(w.open.servers.status()[0]?.reason ?? "", /log in with "maxclaw mcp login guarded"/);
    assert.equal(await login(w.server, w.home), true);
    w.open.servers.reconnect("guarded");
    await w.open.waitFor("guarded", "connected", 2);
    assert.equal(await w.call(), "the secret");
  });

  for (const fault of ["refuses", "hangs"] as const)
    it(`outlives a time in which the authorization server ${fault}`, async () => {
      await using w = await start();
      w.oauth.expire();
      w.oauth.fault = fault;
      assert.match(await w.call(), /its login cannot be renewed for now/);
      w.open.servers.reconnect("guarded");
      await w.open.waitFor("guarded", "reconnecting", 2);
      assert.ok(!w.open.states.some((one) => one.startsWith("guarded off")), w.open.states.join("\n"));
      w.oauth.fault = undefined;
      await w.open.waitFor("guarded", "connected", 2);
      assert.equal(await w.call(), "the secret");
    });

  it("counts until a new one is made: one that is refused, wrong or given up takes nothing away", async () => {
    await using w = await start();
    w.oauth.expire();
    const comeBack = async (url: URL, answer: Record<string, string>): Promise<number> => {
      const address = new URL(url.searchParams.get("redirect_uri") ?? "");
      const state = url.searchParams.get("state") ?? "";
      for (const [name, value] of Object.entries({ state, ...answer })) address.searchParams.set(name, value);
      return (await fetch(address)).status;
    };
    const statuses: Promise<number>[] = [];
    const refuse = async (url: URL): Promise<number> => {
      statuses.push(comeBack(url, { code: "stolen", state: "guessed" }));
      await statuses[0];
      return await comeBack(url, { error: "access_denied" });
    };
    const refused = login(w.server, w.home, (url) => void refuse(url).catch(() => undefined));
    await assert.rejects(refused, /The login was refused: access_denied/);
    assert.deepEqual(await Promise.all(statuses), [400]);
    const wrong = login(w.server, w.home, (url) => void comeBack(url, { code: "made-up" }).catch(() => undefined));
    await assert.rejects(wrong, /The login at guarded failed: .*invalid_grant/);
    await assert.rejects(
      login(w.server, w.home, () => {}, 300),
      /Nobody has logged in within the time/,
    );
    assert.equal(await w.call(), "the secret");
  });
});
