import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { openSession } from "../../../src/mcp/connection/session.js";
import { defaultLimits } from "../../../src/mcp/settings.js";
import { tryServer } from "../../../src/mcp/try-server.js";
import { until } from "../../support/engine/engine-kit.js";
import { freePort } from "../../support/fakes/network/free-port.js";
import { compiledFile, programFile } from "../../support/project.js";
import { badServer, type OpenedServers, openTestServers, settingsOf } from "../../support/worlds/tools/mcp.js";
import { createToolPlace, type ToolPlace } from "../../support/worlds/tools/tool-context.js";

let home = "";
let trace = "";
let place: ToolPlace;
before(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), "maxclaw-mcp-")));
  trace = join(home, "trace");
  place = createToolPlace();
});
after(async () => {
  place[Symbol.dispose]();
  await rm(home, { recursive: true, force: true });
});

const traced = async (): Promise<string> => await readFile(trace, "utf8").catch(() => "");

function newServer(...args: string[]) {
  return {
    command: process.execPath,
    args: [compiledFile("test/support/fakes/mcp/mcp-new-server.js"), ...args],
    env: { TRACE: trace },
  };
}

async function startHttp(
  port: number,
): Promise<AsyncDisposable & { readonly url: string; readonly child: ChildProcess }> {
  const { command, args, env } = newServer("http", "reject", String(port));
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ["ignore", "ignore", "pipe"] });
  await new Promise<void>((resolve, reject) => {
    child.stderr.once("data", () => resolve());
    child.once("exit", (code) => reject(new Error(`The server ended with ${code}`)));
  });
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    child,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await gone;
    },
  };
}

async function call({ servers }: OpenedServers, name: string, input: unknown = {}): Promise<string> {
  const tool = servers.find(`mcp_new_${name}`);
  assert.ok(tool, `${name} is offered`);
  return (await place.run(tool, input)).text;
}

for (const kind of ["stdio", "http"] as const)
  describe(`a server that speaks 2026-07-28 alone, over ${kind}`, () => {
    it("is met, listed, called and left, and a changed list is noticed", async () => {
      await using web = kind === "http" ? await startHttp(await freePort()) : undefined;
      const section = web === undefined ? newServer("stdio", "reject") : { url: web.url };
      await using open = await openTestServers([settingsOf("new", section)], home);
      await open.waitFor("new", "connected");
      assert.equal(await call(open, "say", { text: "hello" }), "hello");
      // By a header of its own, over HTTP: a server refuses the call without it.
      assert.equal(await call(open, "city", { city: "Zürich" }), "Zürich");
      assert.equal(open.servers.find("mcp_new_grown"), undefined);
      assert.equal(await call(open, "grow"), "grown");
      await until("the new tool is offered", () => open.servers.find("mcp_new_grown") !== undefined);
      assert.equal(await call(open, "grown"), "as new");
    });

    it("that hangs is given up in time, hears about it, and goes on", async () => {
      await rm(trace, { force: true });
      await using web = kind === "http" ? await startHttp(await freePort()) : undefined;
      const section = web === undefined ? newServer("stdio", "reject") : { url: web.url };
      await using open = await openTestServers([settingsOf("new", { ...section, callMs: 300 })], home);
      await open.waitFor("new", "connected");
      assert.match(await call(open, "slow"), /did not answer within 0\.3 s; whether it did anything is unknown/);
      await until("it hears that nobody waits", async () => /cancelled/.test(await traced()));
      assert.equal(await call(open, "say", { text: "still here" }), "still here");
      assert.equal(open.states.filter((one) => one === "new connected").length, 1);
    });

    it("is tried by `maxclaw mcp test`", async () => {
      await using web = kind === "http" ? await startHttp(await freePort()) : undefined;
      const section = web === undefined ? newServer("stdio", "reject") : { url: web.url };
      const at = { home, workspace: home, version: "0", secrets: [] };
      const outcome = await tryServer(settingsOf("new", section), at, new AbortController().signal);
      assert.ok(outcome.ok && outcome.tools.includes("say"), JSON.stringify(outcome));
    });
  });

describe("a server that speaks 2026-07-28 alone", () => {
  it("that ends in a call is told as lost, and is started again", async () => {
    await using open = await openTestServers([settingsOf("new", newServer("stdio", "reject"))], home);
    await open.waitFor("new", "connected");
    assert.match(await call(open, "die"), /was lost in the middle of the call: it ended with code 3/);
    await open.waitFor("new", "connected", 2);
    assert.equal(await call(open, "say", { text: "again" }), "again");
  });

  it("that is started again at its address is noticed by the stream that it cut, and used again", async () => {
    const port = await freePort();
    await using first = await startHttp(port);
    await using open = await openTestServers([settingsOf("new", { url: first.url })], home);
    await open.waitFor("new", "connected");
    await first[Symbol.asyncDispose]();
    await open.waitFor("new", "reconnecting");
    await using second = await startHttp(port);
    assert.equal(second.url, first.url);
    await open.waitFor("new", "connected", 2);
    assert.equal(await call(open, "say", { text: "again" }), "again");
  });
});

it("`maxclaw mcp serve` speaks 2026-07-28 as well", async () => {
  const env = { MAXCLAW_HOME: home, HOME: home };
  const server = settingsOf("own", {
    command: process.execPath,
    args: [programFile(), "mcp", "serve"],
    env,
  });
  const options = { limits: defaultLimits, folder: join(home, "own"), closed: [], mask: (text: string) => text };
  const session = await openSession(server, { ...options, version: "0", onChanged() {} }, new AbortController().signal);
  assert.equal(session.isOlder, false);
  assert.deepEqual(session.catalog.tools.map(({ name }) => name).sort(), [
    "list_sessions",
    "read_events",
    "send_message",
  ]);
  await session.close();
});

describe("a server that speaks older revisions alone", () => {
  for (const [how, what] of [
    ["strict", "ends when it is asked which revisions it speaks"],
    ["shy", "does not answer when it is asked which revisions it speaks"],
  ] as const)
    it(`that ${what} is used, and not asked again`, async () => {
      await rm(trace, { force: true });
      const limits = { initialiseMs: 3000 };
      await using open = await openTestServers([settingsOf("old", badServer(how, trace))], home, { limits });
      await open.waitFor("old", "connected");
      assert.deepEqual(open.states, ["old connecting", "old connected"]);
      open.servers.reconnect("old");
      await open.waitFor("old", "connected", 2);
      assert.equal((await traced()).match(/asked/g)?.length, 1);
    });
});
