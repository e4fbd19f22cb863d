import assert from "node:assert/strict";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeOAuth } from "../../support/fakes/mcp/fake-oauth.js";
import { programFile } from "../../support/project.js";
import { finish, openCli, outputOf } from "../../support/worlds/cli.js";
import { startCliGateway, withModel } from "../../support/worlds/cli-gateway.js";
import type { RecordedRequest } from "../../support/worlds/model-script.js";
import { badServer, openTestServers, referenceServer, settingsOf } from "../../support/worlds/tools/mcp.js";
import { createToolPlace } from "../../support/worlds/tools/tool-context.js";

describe("maxclaw mcp", () => {
  it("adds, lists, tests and removes servers in the config", async () => {
    await using cli = await openCli();
    assert.match((await cli.run(["mcp", "list"])).stdout, /^No server is configured/);
    const memory = referenceServer("memory");
    const added = await cli.run([
      "mcp",
      "add",
      "memory",
      "--env",
      "MEMORY_FILE_PATH=/tmp/x y",
      "--",
      memory.command,
      ...memory.args,
    ]);
    assert.deepEqual([added.code, added.stderr], [0, ""]);
    assert.equal(
      (await cli.run(["mcp", "add", "dead", "--trusted", "--", ...Object.values(badServer("dead")).flat()])).code,
      0,
    );
    const file = join(cli.home, "config.json");
    const { memory: written, dead } = JSON.parse(await readFile(file, "utf8")).tools.mcpServers;
    assert.deepEqual(written, { ...memory, env: { MEMORY_FILE_PATH: "/tmp/x y" } });
    assert.equal(dead.trusted, true);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.match(
      (await cli.run(["mcp", "add", "memory", "--url", "https://x.test"])).stderr,
      /has a server memory already/,
    );
    assert.match((await cli.run(["mcp", "list"])).stdout, /^memory +stdio +no gateway is running/m);
    const tested = await cli.run(["mcp", "test"]);
    assert.equal(tested.code, 1);
    assert.match(tested.stdout, /^memory: ok, stdio, \d+ ms, \d+ tools: .*read_graph/m);
    assert.match(tested.stdout, /^dead: failed: it ended with code 1: the database is on fire$/m);
    assert.equal((await cli.run(["mcp", "test", "memory"])).code, 0);
    assert.match((await cli.run(["mcp", "remove", "dead"])).stdout, /removed from/);
    const unmarked = await cli.run(["mcp", "add", "x", "npx", "-y", "thing"]);
    assert.deepEqual([unmarked.code, /Write -- before the command/.test(unmarked.stderr)], [2, true]);
    const env = { LOST_TOKEN: "a-token-of-somebody" };
    await cli.run(["mcp", "add", "lost", "--", "node", "/nonexistent.js", "--token", "$" + "{LOST_TOKEN}"], { env });
    assert.match((await cli.run(["mcp", "list"], { env })).stdout, /nonexistent\.js --token \*\*\*/);
    const lost = await cli.run(["mcp", "test", "lost"], { env });
    assert.match(lost.stdout, /lost: failed: it ended with code 1: Error: Cannot find module '\/nonexistent\.js'/);
    await cli.run(["mcp", "remove", "lost"]);
    assert.deepEqual(Object.keys(JSON.parse(await readFile(file, "utf8")).tools.mcpServers), ["memory"]);
    assert.equal((await cli.run(["mcp", "remove", "dead"])).code, 1);
  });

  it("changes nothing in a config that it cannot read", async () => {
    await using cli = await openCli();
    await mkdir(cli.home, { recursive: true, mode: 0o700 });
    const file = join(cli.home, "config.json");
    await writeFile(file, '{ "tools": { // mine\n }');
    const { code, stderr } = await cli.run(["mcp", "add", "x", "--url", "https://x.test/mcp"]);
    assert.equal(code, 78);
    assert.match(stderr, /line 2, column 3.*left unchanged/);
    assert.equal(await readFile(file, "utf8"), '{ "tools": { // mine\n }');
  });

  it("offers the gateway to other programs, and shows how it gets on with its own servers", async () => {
    await using cli = await openCli();
    const say = [{ id: "c1", name: "mcp_s_say", input: { text: "hi" } }];
    const answer = ({ userText }: RecordedRequest) =>
      userText.includes("say it") ? { toolCalls: say } : { text: "tea at five" };
    await using _model = await withModel(cli, answer, { tools: { mcpServers: { s: badServer() } } });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [programFile(), "mcp", "serve"],
      env: { PATH: process.env.PATH ?? "", HOME: cli.home, MAXCLAW_HOME: cli.home },
      stderr: "ignore",
    });
    const client = new Client({ name: "test", version: "1" });
    await client.connect(transport);
    const call = async (name: string, input: Record<string, unknown>) => {
      const { content, isError } = await client.callTool({ name, arguments: input });
      const [part] = content as readonly { readonly text: string }[];
      return { text: part?.text ?? "", isError: isError === true };
    };
    assert.deepEqual(
      (await client.listTools()).tools.map(({ name }) => name),
      ["send_message", "list_sessions", "read_events"],
    );
    const early = await call("list_sessions", {});
    assert.deepEqual([early.isError, /is not running/.test(early.text)], [true, true]);
    const { url } = await startCliGateway(cli);
    assert.deepEqual(await call("send_message", { text: "when?" }), { text: "tea at five", isError: false });
    const misled = await call("send_message", { text: "a secret", chat_id: "telegram:42" });
    assert.deepEqual([misled.isError, /chat_id/.test(misled.text)], [true, true], misled.text);
    const asked = await call("send_message", { text: "say it", session: "cli:other" });
    assert.match(asked.text, /^The assistant asks a person: May I use mcp_s_say\?[\s\S]*maxclaw answer /);
    assert.match((await call("list_sessions", {})).text, /"key": "cli:mcp"/);
    const events = await call("read_events", { session: "cli:mcp" });
    assert.match(events.text, /"type": "turn_execution_complete"/);
    assert.equal((await call("read_events", { session: "cli:nobody" })).isError, true);
    await client.close();
    await until(
      "the server is connected",
      async () => /"state":"connected"/.test(await (await fetch(`${url}/api/mcp`)).text()),
      20_000,
    );
    assert.match((await cli.run(["mcp", "list"])).stdout, /^s +stdio +connected +3 /m);
    const post = (path: string) => fetch(`${url}/api/mcp/${path}`, { method: "POST" });
    assert.equal((await post("nobody/reconnect")).status, 404);
    assert.equal((await post("nobody/test")).status, 404);
    const { ok, count } = (await (await post("s/test")).json()) as { readonly ok: boolean; readonly count: number };
    assert.deepEqual([ok, count], [true, 3]);
  });

  it("logs in with PKCE in the browser; tokens are the owner's alone, renewed, and missed with words", async () => {
    await using oauth = await startFakeOAuth();
    await using cli = await openCli();
    await cli.run(["mcp", "add", "guarded", "--url", oauth.url]);
    assert.match(
      (await cli.run(["mcp", "test", "guarded"])).stdout,
      /failed: it needs a login: log in with "maxclaw mcp login guarded"/,
    );
    const child = cli.start(["mcp", "login", "guarded"]);
    const done = finish(child);
    const shown = await outputOf(child.stderr, /https?:\/\/\S+\n/);
    const address = /https?:\/\/\S+/.exec(shown)?.[0] ?? "";
    assert.match(address, /code_challenge_method=S256/);
    const redirect = new URL(address).searchParams.get("redirect_uri");
    assert.equal((await fetch(`${redirect}?code=stolen&state=guessed`)).status, 400);
    assert.match(await (await fetch(address)).text(), /logged in/);
    assert.deepEqual([(await done).code, oauth.seen], [0, ["register", "token authorization_code"]]);
    const file = join(cli.home, "mcp-auth.json");
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.match((await cli.run(["mcp", "test", "guarded"])).stdout, /guarded: ok, http/);

    using place = createToolPlace();
    await using open = await openTestServers([settingsOf("guarded", { url: oauth.url })], cli.home);
    await open.waitFor("guarded", "connected");
    oauth.expire();
    const tool = open.servers.find("mcp_guarded_secret");
    assert.ok(tool);
    assert.equal((await place.run(tool, {})).text, "the secret");
    assert.equal(oauth.seen.at(-1), "token refresh_token");
    oauth.revoke();
    assert.equal((await place.run(tool, {})).isError, true);
    open.servers.reconnect("guarded");
    await open.waitFor("guarded", "off");
    assert.match(open.servers.status()[0]?.reason ?? "", /log in with "maxclaw mcp login guarded"/);
    assert.ok(!oauth.seen.slice(2).includes("register"), "nobody is registered without a person");
    await cli.run(["mcp", "remove", "guarded"]);
    assert.doesNotMatch(await readFile(file, "utf8"), /access-/);
  });
});
