import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { folderProblems } from "../../../src/mcp/server-folder.js";
import { inputOf } from "../../../src/mcp/tools/check-input.js";
import { tryServer } from "../../../src/mcp/try-server.js";
import type { ToolResult } from "../../../src/tools/tool.js";
import { until } from "../../support/engine/engine-kit.js";
import { startBridge } from "../../support/fakes/mcp/mcp-bridge.js";
import { withoutPython } from "../../support/worlds/needs.js";
import {
  badServer,
  isAlive,
  type OpenedServers,
  openTestServers,
  referenceServer,
  settingsOf,
  startEverything,
} from "../../support/worlds/tools/mcp.js";
import { createToolPlace, type ToolPlace } from "../../support/worlds/tools/tool-context.js";

/** Says where it is. What it imports is looked up as Python does. */
const pythonServer = `
import json, os, sys
where = {"name": "where", "inputSchema": {"type": "object"}}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked: continue
    said = json.dumps({"cwd": os.getcwd(), "path": os.environ["PATH"]})
    result = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "made", "version": "1"}},
        "tools/list": {"tools": [where]},
        "tools/call": {"content": [{"type": "text", "text": said}]},
    }.get(asked["method"], {})
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
`;

let home = "";
let place: ToolPlace;
before(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), "maxclaw-mcp-")));
  place = createToolPlace();
});
after(async () => {
  place[Symbol.dispose]();
  await rm(home, { recursive: true, force: true });
});

async function run(
  { servers }: OpenedServers,
  name: string,
  input: unknown,
  signal?: AbortSignal,
): Promise<ToolResult> {
  const tool = servers.find(name);
  assert.ok(tool, `${name} is offered`);
  return await place.run(tool, input, signal === undefined ? {} : { signal });
}

describe("the reference servers", () => {
  let open: OpenedServers;
  before(async () => {
    await writeFile(join(home, "note.txt"), "a note");
    open = await openTestServers(
      [
        settingsOf("everything", referenceServer("everything")),
        settingsOf("files", { ...referenceServer("filesystem", home), trusted: true }),
        settingsOf("memory", { ...referenceServer("memory"), env: { MEMORY_FILE_PATH: join(home, "memory.jsonl") } }),
      ],
      home,
    );
    for (const name of ["everything", "files", "memory"]) await open.waitFor(name, "connected");
  });
  after(() => open[Symbol.asyncDispose]());

  it("offer their tools under names of one kind", () => {
    const names = open.servers.declared().map(({ name }) => name);
    for (const name of ["mcp_everything_echo", "mcp_files_read_text_file", "mcp_memory_create_entities"])
      assert.ok(names.includes(name), name);
    assert.ok(names.every((name) => /^mcp_[a-z0-9_]{1,60}$/.test(name)));
    assert.deepEqual(names, [...names].sort());
  });

  it("do what they are asked, and their words are marked as coming from outside", async () => {
    const echo = await run(open, "mcp_everything_echo", { message: "hé" });
    assert.deepEqual([echo.text, echo.isError, echo.outside], ["Echo: hé", false, "the MCP server everything"]);
    assert.equal((await run(open, "mcp_files_read_text_file", { path: join(home, "note.txt") })).text, "a note");
    const entities = [{ name: "Ada", entityType: "person", observations: ["likes tea"] }];
    await run(open, "mcp_memory_create_entities", { entities });
    assert.match((await run(open, "mcp_memory_search_nodes", { query: "tea" })).text, /Ada/);
  });

  it("are not asked at all when the input does not fit their schema", async () => {
    const tool = open.servers.find("mcp_everything_get_sum");
    assert.ok(tool);
    const parsed = tool.input.safeParse({ a: "one" });
    assert.ok(!parsed.success);
    assert.match(parsed.error.issues[0]?.message ?? "", /must have required property 'b'.*`a` must be number/s);
    assert.ok(tool.input.safeParse({ a: 1, b: 2 }).success);
    assert.equal((await run(open, "mcp_everything_get_sum", { a: 1, b: 2 })).text, "The sum of 1 and 2 is 3.");
  });

  it("that take no other fields are not asked with one, and the model reads which it is and which there are", () => {
    const options = { type: "object", properties: { unit: { type: "string" } }, additionalProperties: false };
    const closed = { type: "object", properties: { city: { type: "string" }, options }, additionalProperties: false };
    const problem = (schema: object, input: object): string =>
      inputOf(schema, () => assert.fail("the schema is one")).safeParse(input).error?.issues[0]?.message ?? "none";
    assert.equal(problem(closed, { city: "Oslo", options: { unit: "C" } }), "none");
    assert.equal(problem(closed, { citty: "Oslo" }), "`citty` is not a field (did you mean `city`?)");
    assert.match(
      problem(closed, { city: "Oslo", options: { zzzzzz: 1 } }),
      /`options\.zzzzzz` is not a field; there are unit/,
    );
    assert.equal(problem({ ...closed, additionalProperties: true }, { anything: 1 }), "none");
    // Fields by pattern are for the server to judge.
    assert.equal(problem({ ...closed, patternProperties: { "^x-": {} } }, { "x-trace": "1" }), "none");
  });

  it("fail as they say, and not as success", async () => {
    const result = await run(open, "mcp_files_read_text_file", { path: "/etc/passwd" });
    assert.equal(result.isError, true);
    assert.match(result.text, /denied/i);
  });

  it("give images as files that a model can look at", async () => {
    const result = await run(open, "mcp_everything_get_tiny_image", {});
    const [image] = result.images ?? [];
    assert.ok(image);
    assert.equal(image.mimeType, "image/png");
    assert.match(
      result.text,
      /\[image \(image\/png, \d+ bytes\) saved as \S+\/\.kept\/telegram_42\/tool-results\/outside\/mcp_everything_get_tiny/,
    );
    assert.deepEqual([...(await readFile(image.path)).subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
  });

  it("give resources and prompts, listed first", async () => {
    const list = await run(open, "mcp_everything_read_resource", {});
    const [, uri = ""] = /(demo:\/\/resource\/static\/\S+)/.exec(list.text) ?? [];
    assert.match((await run(open, "mcp_everything_read_resource", { uri })).text, /^\[resource demo:/);
    assert.match((await run(open, "mcp_everything_get_prompt", {})).text, /^simple-prompt\(\)/m);
    const prompt = await run(open, "mcp_everything_get_prompt", { name: "args-prompt", arguments: { city: "Bonn" } });
    assert.match(prompt.text, /^user:\n\n.*Bonn/s);
  });

  it("are believed about what their tools do only where they are trusted", () => {
    const effect = (name: string) => open.servers.find(name)?.effect;
    assert.equal(effect("mcp_files_read_text_file"), "read");
    assert.equal(effect("mcp_files_write_file"), "idempotent");
    assert.equal(effect("mcp_files_move_file"), "write");
    assert.equal(effect("mcp_memory_read_graph"), "write");
  });

  it("stop with the call that is stopped", async () => {
    const stop = new AbortController();
    const call = run(open, "mcp_everything_trigger_long_running_operation", { duration: 30, steps: 5 }, stop.signal);
    stop.abort(new DOMException("stopped", "AbortError"));
    await assert.rejects(call, { name: "AbortError" });
    assert.equal((await run(open, "mcp_everything_echo", { message: "still" })).text, "Echo: still");
  });
});

describe("servers over HTTP", () => {
  for (const kind of ["streamableHttp", "sse"] as const) {
    it(`are used over ${kind}, found without being named, and met again after they were away`, async () => {
      const first = await startEverything(kind);
      await using open = await openTestServers([settingsOf("far", { url: first.url })], home);
      await open.waitFor("far", "connected");
      assert.equal(open.servers.status()[0]?.type, kind === "sse" ? "sse" : "http");
      assert.equal((await run(open, "mcp_far_echo", { message: "hi" })).text, "Echo: hi");
      await first[Symbol.asyncDispose]();
      if (kind === "sse") await open.waitFor("far", "reconnecting");
      else assert.equal((await run(open, "mcp_far_echo", { message: "gone" })).isError, true);
      await using _second = await startEverything(kind, first.port);
      await open.waitFor("far", "connected", 2);
      assert.equal((await run(open, "mcp_far_echo", { message: "again" })).text, "Echo: again");
    });
  }
});

describe("the reference servers that only speak stdio, behind a bridge", () => {
  for (const kind of ["http", "sse"] as const)
    it(`are used over ${kind} as well`, async () => {
      await writeFile(join(home, "far.txt"), "far away");
      await using files = await startBridge(kind, referenceServer("filesystem", home));
      const env = { PATH: process.env.PATH ?? "", MEMORY_FILE_PATH: join(home, `memory-${kind}.jsonl`) };
      await using memory = await startBridge(kind, { ...referenceServer("memory"), env });
      const far = (name: string, { url }: { readonly url: string }) => settingsOf(name, { url });
      await using open = await openTestServers([far("files", files), far("memory", memory)], home);
      for (const name of ["files", "memory"]) await open.waitFor(name, "connected");
      assert.deepEqual(
        open.servers.status().map(({ type }) => type),
        [kind, kind],
      );
      assert.equal((await run(open, "mcp_files_read_text_file", { path: join(home, "far.txt") })).text, "far away");
      const refused = await run(open, "mcp_files_read_text_file", { path: "/etc/passwd" });
      assert.deepEqual([refused.isError, /denied/i.test(refused.text)], [true, true]);
      const entities = [{ name: "Bob", entityType: "person", observations: ["likes rain"] }];
      await run(open, "mcp_memory_create_entities", { entities });
      assert.match((await run(open, "mcp_memory_search_nodes", { query: "rain" })).text, /Bob/);
    });
});

describe("a server that misbehaves", () => {
  it("is told about in status, and harms no other", async () => {
    await using open = await openTestServers(
      [
        settingsOf("good", badServer("good")),
        settingsOf("dead", badServer("dead")),
        settingsOf("mute", badServer("mute")),
        settingsOf("absent", { command: "/nonexistent/server" }),
        settingsOf("nowhere", { url: "http://127.0.0.1:9/mcp" }),
      ],
      home,
      { limits: { initialiseMs: 1000 } },
    );
    await open.waitFor("good", "connected");
    assert.equal((await run(open, "mcp_good_say", { text: "hi" })).text, "hi");
    for (const name of ["dead", "absent", "nowhere"]) await open.waitFor(name, "reconnecting", 2);
    await open.waitFor("mute", "reconnecting");
    const reasons = new Map(open.servers.status().map(({ name, reason = "" }) => [name, reason]));
    assert.match(
      open.states.find((one) => one.startsWith("dead reconnecting")) ?? "",
      /code 1: the database is on fire$/,
    );
    assert.match(open.states.find((one) => one.startsWith("mute reconn")) ?? "", /initialising took more than 1 s/);
    assert.match(open.states.find((one) => one.startsWith("absent reconn")) ?? "", /command was not found/);
    assert.match(open.states.find((one) => one.startsWith("nowhere reconn")) ?? "", /ECONNREFUSED|connect/);
    assert.equal(reasons.get("good"), "");
  });

  it("may print garbage", async () => {
    await using open = await openTestServers([settingsOf("noisy", badServer("garbage"))], home);
    await open.waitFor("noisy", "connected");
    assert.equal((await run(open, "mcp_noisy_say", { text: "hi" })).text, "hi");
  });

  it("may pour into its stderr, and is slowed down there", async () => {
    await using open = await openTestServers([settingsOf("loud", badServer("loud"))], home);
    await open.waitFor("loud", "connected");
    let kilobytesPerSecond = 0;
    await until(
      "it has poured",
      async () => {
        const { text } = await run(open, "mcp_loud_say", { text: "poured" });
        const [bytes = 0, ms = 0] = text.split(" in ").map(Number);
        kilobytesPerSecond = bytes / ms;
        return bytes > 5e6;
      },
      20_000,
    );
    assert.ok(kilobytesPerSecond < 30_000, `${kilobytesPerSecond} kB/s`);
  });

  it("shows no secret in what it says before it ends: not in its state, the log, nor to the model", async () => {
    const secrets = ["correct horse battery", "a second secret/99"];
    const env = { API_KEY: secrets[0] ?? "", OTHER: secrets[1] ?? "" };
    const settings = [
      settingsOf("s", { ...badServer("blurts"), env }),
      settingsOf("t", { ...badServer("blurts"), env }),
    ];
    await using open = await openTestServers(settings, home, { secrets });
    await open.waitFor("s", "reconnecting");
    const status = open.servers.status().find(({ name }) => name === "s");
    assert.match(status?.reason ?? "", /^it ended with code 4: Error: +2J \[31m log in with \*\*\* and \*\*\* failed$/);
    const tried = await tryServer(
      settingsOf("s", { ...badServer("blurts"), env }),
      { home, workspace: home, version: "0", secrets },
      new AbortController().signal,
    );
    const shown = JSON.stringify([status, open.states, open.log.lines, tried]);
    assert.match(shown, /log in with \*\*\*/);
    for (const part of ["correct", "horse", "battery", "second", "secret"])
      assert.doesNotMatch(shown, new RegExp(part));
    assert.doesNotMatch(shown, /\p{Cc}|\\u00[19]b/iu);
  });

  it("is started again after it has died, and what it did not finish is told", async () => {
    await using open = await openTestServers([settingsOf("s", badServer())], home);
    await open.waitFor("s", "connected");
    const died = await run(open, "mcp_s_die", { text: "x" });
    assert.equal(died.isError, true);
    assert.match(
      died.text,
      /was lost in the middle of the call: it ended with code 3\. Whether it did anything is unknown/,
    );
    await open.waitFor("s", "connected", 2);
    assert.match(open.states.find((one) => one.startsWith("s reconnecting")) ?? "", /ended with code 3/);
    assert.equal((await run(open, "mcp_s_say", { text: "back" })).text, "back");
  });

  it("is cut off when it floods or sends what has no end, and held in bounded memory", async () => {
    await using open = await openTestServers([settingsOf("s", badServer())], home, {
      limits: { maxFrameBytes: 2 * 1024 * 1024 },
    });
    await open.waitFor("s", "connected");
    for (const [index, flood] of ["flood", "flood of answers", "flood of nothing"].entries()) {
      const { isError, text } = await run(open, "mcp_s_say", { text: flood });
      assert.deepEqual([isError, /it flooded the gateway/.test(text)], [true, true], text);
      await open.waitFor("s", "connected", index + 2);
    }
    const before = process.memoryUsage().rss;
    assert.equal((await run(open, "mcp_s_say", { text: "huge" })).isError, true);
    await open.waitFor("s", "connected", 5);
    assert.ok(process.memoryUsage().rss - before < 100e6);
    const reasons = open.states.filter((one) => one.startsWith("s reconnecting")).join("\n");
    assert.match(reasons, /(flooded[^\n]*\n.*){3}more than 2048 kB/);
  });

  it("that does not answer is told about after its time, and left when it is not even there", async () => {
    await using open = await openTestServers([settingsOf("s", { ...badServer(), callMs: 300 })], home);
    await open.waitFor("s", "connected");
    const slow = await run(open, "mcp_s_slow", { text: "x" });
    assert.match(slow.text, /did not answer within 0\.3 s; whether it did anything is unknown/);
    assert.equal((await run(open, "mcp_s_say", { text: "ping is answered" })).text, "ping is answered");
    assert.equal(open.states.filter((one) => one === "s connected").length, 1);
  });

  it("that changes its tools is asked for them again", async () => {
    await using open = await openTestServers([settingsOf("s", badServer())], home);
    await open.waitFor("s", "connected");
    assert.equal(open.servers.find("mcp_s_grown"), undefined);
    await run(open, "mcp_s_say", { text: "grow" });
    await until("the new tool is offered", () => open.servers.find("mcp_s_grown") !== undefined, 10_000);
  });

  it("that says so a thousand times is asked a few times, the last time after all of them", async () => {
    await using open = await openTestServers([settingsOf("s", badServer())], home, { limits: { listPauseMs: 300 } });
    await open.waitFor("s", "connected");
    await run(open, "mcp_s_say", { text: "storm" });
    await until("the new tool is offered", () => open.servers.find("mcp_s_grown") !== undefined, 10_000);
    const lists = Number((await run(open, "mcp_s_say", { text: "lists" })).text);
    assert.ok(lists >= 2 && lists <= 5, `${lists} lists`);
  });

  it("that refuses a call with numbers of its own is heard, called once, and kept", async () => {
    await using open = await openTestServers([settingsOf("s", badServer())], home);
    await open.waitFor("s", "connected");
    for (const [index, code] of [404, -32000, -32001].entries()) {
      const result = await run(open, "mcp_s_say", { text: `refuse ${code}` });
      assert.match(result.text, new RegExp(`refused ${index + 1}$`));
    }
    assert.deepEqual(open.states, ["s connecting", "s connected"]);
  });

  it("whose tools are too deep, too large, named twice or of a refused kind leaves the others and the requests whole", async () => {
    await using open = await openTestServers(
      [settingsOf("odd", badServer("odd")), settingsOf("good", badServer())],
      home,
    );
    await open.waitFor("odd", "connected");
    await open.waitFor("good", "connected");
    const declared = open.servers.declared();
    assert.deepEqual(
      declared.map(({ name }) => name),
      ["mcp_good_die", "mcp_good_say", "mcp_good_slow", "mcp_odd_one"],
    );
    assert.equal(declared.at(-1)?.inputSchema?.anyOf, undefined);
    assert.ok(
      open.log.lines.some(({ message }) => /tools that are too large to be offered: deep, wide$/.test(message)),
    );
  });

  it("gets nothing of the gateway's environment but what its section names", async () => {
    process.env.MAXCLAW_TEST_SECRET = "sk-hidden";
    try {
      await using open = await openTestServers([settingsOf("s", { ...badServer(), env: { NAMED: "yes" } })], home);
      await open.waitFor("s", "connected");
      const { text } = await run(open, "mcp_s_say", { text: "environment" });
      assert.equal(JSON.parse(text).NAMED, "yes");
      assert.ok(JSON.parse(text).PATH);
      assert.doesNotMatch(text, /sk-hidden/);
    } finally {
      delete process.env.MAXCLAW_TEST_SECRET;
    }
  });

  it("runs nothing that others have put into the workspace: no module, no program", {
    skip: withoutPython(),
  }, async () => {
    const [workspace, tools] = [join(home, "open"), join(home, "owner")];
    const session = join(workspace, ".sessions", "telegram_42");
    await mkdir(session, { recursive: true });
    await mkdir(tools);
    await writeFile(join(tools, "made_server.py"), pythonServer);
    const stolen = join(home, "stolen");
    for (const folder of [workspace, session]) {
      await writeFile(join(folder, "json.py"), `open(${JSON.stringify(stolen)}, "w").write("json.py")\n`);
      await writeFile(join(folder, "python3"), `#!/bin/sh\necho python3 > '${stolen}'\n`, { mode: 0o755 });
    }
    const [before, path] = [process.cwd(), process.env.PATH];
    process.chdir(workspace);
    process.env.PATH = `:.:${workspace}:${session}:${path}`;
    try {
      const section = { command: "python3", args: ["-m", "made_server"], env: { PYTHONPATH: tools } };
      await using open = await openTestServers([settingsOf("s", section)], home, { workspace });
      await open.waitFor("s", "connected");
      const said: { cwd: string; path: string } = JSON.parse((await run(open, "mcp_s_where", {})).text);
      assert.ok(!existsSync(stolen), "what a guest wrote has run");
      assert.equal(said.cwd, join(home, "mcp", "s"));
      for (const folder of said.path.split(":"))
        assert.ok(isAbsolute(folder) && !folder.startsWith(home), `${folder} is searched for programs`);
      assert.deepEqual(await readdir(said.cwd), []);
      assert.equal((await stat(said.cwd)).mode & 0o777, 0o700);
    } finally {
      process.chdir(before);
      process.env.PATH = path;
    }
  });

  it("finds its folder empty at each start, or begins where its section says", { skip: withoutPython() }, async () => {
    const tools = join(home, "owner");
    await mkdir(join(home, "mcp", "s"), { recursive: true });
    await writeFile(join(home, "mcp", "s", "made_server.py"), "raise SystemExit(1)");
    const section = { command: "python3", args: ["-m", "made_server"], env: { PYTHONPATH: tools, PYTHONSAFEPATH: "" } };
    assert.match(
      folderProblems([settingsOf("s", section)], { home, workspace: join(home, "open") }).join(),
      /^MCP server s keeps files in its folder \(made_server\.py\), which is emptied .* tools\.mcpServers\.s\.cwd /,
    );
    const chosen = { ...section, cwd: tools };
    await using open = await openTestServers([settingsOf("s", section), settingsOf("t", chosen)], home);
    for (const name of ["s", "t"]) await open.waitFor(name, "connected");
    const cwdOf = async (name: string): Promise<string> =>
      JSON.parse((await run(open, `mcp_${name}_where`, {})).text).cwd;
    assert.deepEqual([await cwdOf("s"), await cwdOf("t")], [join(home, "mcp", "s"), tools]);
    assert.deepEqual(
      folderProblems([settingsOf("s", section), settingsOf("t", chosen)], { home, workspace: "/ws" }),
      [],
    );
    assert.match(
      folderProblems([settingsOf("t", chosen)], { home, workspace: home }).join(),
      /^MCP server t runs .*\/owner, which is in the workspace/,
    );
  });

  it("that is not used is stopped, and started by the next call", async () => {
    await using open = await openTestServers([settingsOf("s", badServer())], home, { idleMs: 100 });
    await open.waitFor("s", "idle");
    assert.ok(open.servers.find("mcp_s_say"), "its tools stay on offer");
    const answers = await Promise.all(["one", "two"].map((text) => run(open, "mcp_s_say", { text })));
    assert.deepEqual(
      answers.map(({ text }) => text),
      ["one", "two"],
    );
  });

  it("ends with its whole group, whatever it ignores", async () => {
    const file = join(home, "stubborn-pids");
    const open = await openTestServers([settingsOf("s", badServer("stubborn", file))], home, {
      limits: { stopMs: 100 },
    });
    await open.waitFor("s", "connected");
    await open[Symbol.asyncDispose]();
    const pids = (await readFile(file, "utf8")).trim().split(/\s+/).map(Number);
    assert.equal(pids.length, 2);
    for (const pid of pids) await until(`${pid} has ended`, async () => !(await isAlive(pid)), 10_000);
  });
});

/** An MCP server over streamable HTTP, each call of which makes it pour out `piece` for ever, or answers where there is none. */
async function startPouring(type: string, piece?: string, statusOfUnknown = 404) {
  let session = "";
  let calls = 0;
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      const { id, method, params } = JSON.parse(text || "{}");
      if (id === undefined) return response.writeHead(request.method === "POST" ? 202 : 405).end();
      const pour = (): void => {
        while (!response.destroyed && response.write(piece));
        if (!response.destroyed) response.once("drain", pour);
      };
      if (method === "initialize") {
        session = `session-${performance.now()}`;
        response.setHeader("mcp-session-id", session);
      } else if (request.headers["mcp-session-id"] !== session)
        return response.writeHead(statusOfUnknown).end("who are you?");
      if (method === "tools/call" && piece !== undefined) {
        response.writeHead(200, { "content-type": type });
        return pour();
      }
      const result =
        method === "initialize"
          ? {
              protocolVersion: params.protocolVersion,
              capabilities: { tools: {} },
              serverInfo: { name: "p", version: "1" },
            }
          : method === "tools/call"
            ? { content: [{ type: "text", text: `call ${++calls}` }] }
            : { tools: [{ name: "pour", inputSchema: { type: "object" } }] };
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/mcp`,
    /** As if it had been started again. */
    forget: () => (session = ""),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("a server elsewhere that pours without end,", () => {
  const notice = `data: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "x" } })}\n\n`;
  for (const [what, type, piece] of [
    ["one answer", "application/json", "x".repeat(100_000)],
    ["one event", "text/event-stream", `data: ${"x".repeat(100_000)}\n`],
    ["events", "text/event-stream", notice.repeat(100)],
  ] as const)
    it(`(${what}) is left, and held in bounded memory`, async () => {
      await using far = await startPouring(type, piece);
      const limits = { maxFrameBytes: 2 * 1024 * 1024 };
      const settings = settingsOf("far", { url: far.url, type: "http", callMs: 20_000 });
      await using open = await openTestServers([settings], home, { limits });
      await open.waitFor("far", "connected");
      const before = process.memoryUsage().rss;
      const result = await run(open, "mcp_far_pour", {});
      assert.equal(result.isError, true);
      assert.doesNotMatch(result.text, /did not answer/);
      assert.ok(process.memoryUsage().rss - before < 100e6);
      open.servers.reconnect("far");
      await open.waitFor("far", "connected", 2);
    });

  it("or answers 400 to a session that it has forgotten is asked whether it is there, and met again", async () => {
    await using far = await startPouring("application/json", undefined, 400);
    await using open = await openTestServers([settingsOf("far", { url: far.url })], home);
    await open.waitFor("far", "connected");
    far.forget();
    assert.match((await run(open, "mcp_far_pour", {})).text, /it answered with HTTP 400: who are you\?/);
    await open.waitFor("far", "connected", 2);
    assert.equal((await run(open, "mcp_far_pour", {})).text, "call 1");
  });

  it("or has forgotten the session is met again, and the call it has not done is done once", async () => {
    await using far = await startPouring("application/json");
    await using open = await openTestServers([settingsOf("far", { url: far.url })], home);
    await open.waitFor("far", "connected");
    assert.equal((await run(open, "mcp_far_pour", {})).text, "call 1");
    far.forget();
    assert.equal((await run(open, "mcp_far_pour", {})).text, "call 2");
  });
});

/** Answers everything in this way. */
async function startAnswering(status: number, type: string, body: string) {
  const server = createServer((_, response) => void response.writeHead(status, { "content-type": type }).end(body));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/mcp`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("an address that is not an MCP server", () => {
  for (const [status, type, body, reason] of [
    [400, "application/json", "missing X-Team header", /^it answered with HTTP 400: missing X-Team header$/],
    [404, "text/html", "<html>".repeat(1000), /^it answered with HTTP 404: .{200,300}$/],
    [500, "text/plain", "database down", /^it answered with HTTP 500: database down$/],
    [200, "application/json", "{}", /^what it answers is not MCP$/],
    [200, "application/json", "{oops", /^what it answers is not MCP$/],
  ] as const)
    it(`is told about in one clause: ${status} ${body.slice(0, 30)}`, async () => {
      await using far = await startAnswering(status, type, body);
      await using open = await openTestServers([settingsOf("far", { url: far.url })], home);
      await open.waitFor("far", "reconnecting");
      assert.match(open.servers.status()[0]?.reason ?? "", reason);
    });
});

describe("a turn that begins while servers connect", () => {
  it("waits for them 2 s at most, and is told which are missing", async () => {
    await using open = await openTestServers(
      [settingsOf("good", badServer()), settingsOf("mute", badServer("mute"))],
      home,
    );
    const from = performance.now();
    assert.deepEqual(await open.servers.settle(new AbortController().signal), ["mute"]);
    const waited = performance.now() - from;
    assert.ok(waited >= 1900 && waited < 9000, `${waited} ms`);
    assert.ok(open.servers.find("mcp_good_say"));
  });
});
