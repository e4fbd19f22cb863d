import assert from "node:assert/strict";
import { mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import type { ToolResult } from "../../../src/tools/tool.js";
import { until } from "../../support/engine/engine-kit.js";
import { badServer, isAlive, type OpenedServers, openTestServers, settingsOf } from "../../support/worlds/tools/mcp.js";
import { createToolPlace, type ToolPlace } from "../../support/worlds/tools/tool-context.js";

const sizes = { declareBytes: 1_000_000, idleMs: 0 };
const never = new AbortController().signal;

let home = "";
let calls = "";
let place: ToolPlace;
before(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), "maxclaw-mcp-follow-")));
  place = createToolPlace();
});
beforeEach(async () => {
  calls = join(home, "calls");
  await rm(calls, { force: true });
});
after(async () => {
  place[Symbol.dispose]();
  await rm(home, { recursive: true, force: true });
});

async function run({ servers }: OpenedServers, name: string, input: unknown): Promise<ToolResult> {
  const tool = servers.find(name);
  assert.ok(tool, `${name} is offered`);
  return await place.run(tool, input);
}

const namesOf = ({ servers }: OpenedServers): readonly string[] =>
  servers.declared().map(({ name }) => name.replace(/_(say|slow|die)$/, ""));

/** A call that does not end by itself, once the server has it. */
async function beginSlow(open: OpenedServers, name = "mcp_s_slow"): Promise<{ readonly ended: Promise<ToolResult> }> {
  const before = await linesIn(calls);
  const ended = run(open, name, { text: "slow" });
  await until("the call has begun", async () => (await linesIn(calls)) > before, 10_000);
  return { ended };
}

async function linesIn(path: string): Promise<number> {
  return (await readFile(path, "utf8").catch(() => "")).split("\n").filter(Boolean).length;
}

describe("the servers of a config that changes", () => {
  it("are connected when they come, and ended with their processes when they go", async () => {
    const pids = join(home, "pids");
    const kept = settingsOf("kept", badServer());
    await using open = await openTestServers([kept], home, { limits: { stopMs: 100 } });
    await open.waitFor("kept", "connected");
    open.servers.follow([kept, settingsOf("new", badServer("stubborn", pids))], sizes);
    await open.waitFor("new", "connected");
    assert.deepEqual([...new Set(namesOf(open))], ["mcp_kept", "mcp_new"]);
    open.servers.follow([kept], sizes);
    assert.deepEqual([...new Set(namesOf(open))], ["mcp_kept"], "at once");
    assert.deepEqual(
      open.servers.status().map(({ name }) => name),
      ["kept"],
    );
    await open.waitFor("new", "off");
    for (const pid of (await readFile(pids, "utf8")).trim().split(/\s+/).map(Number))
      await until(`${pid} has ended`, async () => !(await isAlive(pid)), 10_000);
    assert.equal(open.states.filter((state) => state.startsWith("kept")).length, 2, "the other one was left alone");
    assert.equal((await run(open, "mcp_kept_say", { text: "hi" })).text, "hi");
    assert.deepEqual(await open.servers.settle(never), []);
  });

  it("a call of one that goes ends at once, and says why", async () => {
    await using open = await openTestServers([settingsOf("s", badServer("good", calls))], home);
    await open.waitFor("s", "connected");
    const tool = open.servers.find("mcp_s_say");
    const slow = await beginSlow(open);
    open.servers.follow([], sizes);
    const { text, isError } = await slow.ended;
    assert.match(text, /was lost in the middle of the call: it was taken out of the config\. Whether it did anything/);
    assert.equal(isError, true);
    await open.waitFor("s", "off");
    assert.ok(tool);
    const late = await place.run(tool, { text: "late" });
    assert.match(late.text, /^The MCP server s is not connected: it was taken out of the config\./);
  });

  it("one that has changed is replaced once its call is over; the next call waits for the new one", async () => {
    const first = settingsOf("s", { ...badServer("good", calls), callMs: 700 });
    await using open = await openTestServers([first], home);
    await open.waitFor("s", "connected");
    const slow = await beginSlow(open);
    open.servers.follow([{ ...first, env: { OTHER: "x" } }], sizes);
    const next = run(open, "mcp_s_say", { text: "next" });
    assert.equal(open.states.filter((state) => state === "s connected").length, 1);
    assert.match((await slow.ended).text, /did not answer within 0\.7 s/, "it had its time");
    assert.equal((await next).text, "next");
    assert.deepEqual(
      open.states.filter((state) => /connected|off/.test(state)),
      ["s connected", "s off: its settings were changed", "s connected"],
    );
  });

  it("what another program offers under the same name is known once it is connected, and not before", async () => {
    await using open = await openTestServers([settingsOf("s", badServer())], home);
    await open.waitFor("s", "connected");
    open.servers.follow([settingsOf("s", badServer("many"))], sizes);
    assert.equal(open.servers.find("mcp_s_say"), undefined);
    await open.servers.settle(never);
    await open.waitFor("s", "connected", 2);
    assert.ok(open.servers.find("mcp_s_tool_1_for_things"));
  });

  it("one that changes again and again, or goes before it was replaced, leaves nothing behind", async () => {
    const first = settingsOf("s", badServer("good", calls));
    const open = await openTestServers([first], home);
    await open.waitFor("s", "connected");
    const slow = await beginSlow(open);
    for (let n = 0; n < 20; n++) open.servers.follow([{ ...first, env: { OTHER: `${n}` } }], sizes);
    open.servers.follow([], sizes);
    assert.match((await slow.ended).text, /taken out of the config/);
    open.servers.follow([first], sizes);
    await open.waitFor("s", "connected", 2);
    await open[Symbol.asyncDispose]();
    assert.equal(open.states.filter((state) => state === "s connected").length, 2);
    assert.equal(open.states.at(-1), "s off: the gateway is stopping");
  });

  it("show no secret that the config has got since they were opened", async () => {
    let secrets: readonly string[] = [];
    await using open = await openTestServers([settingsOf("s", { command: "/nowhere/new-secret-0123" })], home, {
      get secrets() {
        return secrets;
      },
    });
    await open.waitFor("s", "reconnecting");
    assert.match(open.servers.status()[0]?.reason ?? "", /new-secret-0123/);
    secrets = ["new-secret-0123"];
    await open.waitFor("s", "reconnecting", 4);
    assert.doesNotMatch(open.servers.status()[0]?.reason ?? "", /new-secret-0123/);
  });

  it("an idle time that is set while they run counts for them", async () => {
    const one = settingsOf("s", badServer());
    await using open = await openTestServers([one], home, { idleMs: 50_000 });
    await open.waitFor("s", "connected");
    open.servers.follow([one], { ...sizes, idleMs: 50 });
    await run(open, "mcp_s_say", { text: "hi" });
    open.servers.reconnect("s");
    await open.waitFor("s", "idle");
  });
});
