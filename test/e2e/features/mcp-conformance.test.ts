import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { test } from "node:test";
import { z } from "zod";
import { useServer } from "../../conformance/use-server.js";
import { startBridge } from "../../support/fakes/mcp/mcp-bridge.js";
import { startSite } from "../../support/fakes/web-site.js";
import { childFile, compiledFile, packageFolder, programFile } from "../../support/project.js";
import { openCli } from "../../support/worlds/cli.js";

// The official suite of the protocol, against us. What is expected to fail is named with its reason; whatever else fails, and
// whatever does not fail any more, fails here.

/** The same in one file, where there is one: it is started for each scenario. */
const bundled = childFile("conformance-suite.js");
const suite = existsSync(bundled)
  ? bundled
  : join(packageFolder("@modelcontextprotocol/conformance"), "dist", "index.js");
const limitMs = 60_000;
/** As many as a small machine runs at once. */
const atOnce = 3;

/** Runs one scenario; undefined when it passed, else what it said. */
async function run(mode: "client" | "server", scenario: string, args: readonly string[]): Promise<string | undefined> {
  const child = spawn(process.execPath, [suite, mode, "--scenario", scenario, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
    });
  const timer = setTimeout(() => child.kill("SIGKILL"), limitMs);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  clearTimeout(timer);
  return code === 0 ? undefined : said;
}

/** The scenarios that the suite lists for this side. */
async function listed(mode: "client" | "server"): Promise<readonly string[]> {
  const child = spawn(process.execPath, [suite, "list", `--${mode}`], { stdio: ["ignore", "pipe", "ignore"] });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    said += chunk;
  });
  await new Promise((resolve) => child.once("close", resolve));
  return [...said.matchAll(/^ {2}- (\S+)/gm)].map(([, name = ""]) => name);
}

/** Runs all of them, and tells which failed with what. */
async function runAll(
  mode: "client" | "server",
  scenarios: readonly string[],
  args: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const waiting = [...scenarios];
  const failed = new Map<string, string>();
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const said = await run(mode, next, args);
      if (said !== undefined) failed.set(next, said);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return failed;
}

function assertExpected(failed: ReadonlyMap<string, string>, expected: Readonly<Record<string, string>>): void {
  const unexpected = [...failed].filter(([name]) => !(name in expected));
  assert.deepEqual(
    unexpected.map(([name]) => name),
    [],
    unexpected.map(([name, said]) => `${name}:\n${said.slice(-3000)}`).join("\n\n"),
  );
  const passed = Object.keys(expected).filter((name) => !failed.has(name));
  assert.deepEqual(passed, [], "expected to fail, and passed: take them out of the list");
}

const notAsClient: Readonly<Record<string, string>> = {
  "auth/basic-cimd": "a gateway at home has no web address that could name it as a client: it registers itself",
  "auth/client-credentials-jwt": "a login without a person is not offered: a token of one's own goes into `headers`",
  "auth/client-credentials-basic": "a login without a person is not offered: a token of one's own goes into `headers`",
};

const asked = z.object({ server: z.string(), given: z.string().optional() });

/** Is the client of one scenario; says what was seen, with 200 when all went well. */
async function answerAsClient(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let said = "";
  let code = 1;
  try {
    const { server, given } = asked.parse(await json(request));
    code = await useServer(server, given, (line) => {
      said += line;
    });
  } catch (error) {
    said += error instanceof Error ? `${error.stack}\n` : "?";
  }
  response.writeHead(code === 0 ? 200 : 500).end(said);
}

/** Measures how long the client waits, so nothing runs beside it. */
const timed = ["sse-retry"];

test("as a client maxclaw does what the conformance suite asks for", async () => {
  const scenarios = await listed("client");
  assert.ok(
    scenarios.length >= 23 && ["auth/scope-step-up", ...timed].every((name) => scenarios.includes(name)),
    scenarios.join(" "),
  );
  await using client = await startSite((request, response) => void answerAsClient(request, response));
  const command = `${process.execPath} ${compiledFile("test/conformance/client.js")} ${client.url}`;
  const how = ["--command", command, "--timeout", String(limitMs - 10_000)];
  const others = scenarios.filter((name) => !timed.includes(name));
  const failed = [...(await runAll("client", others, how)), ...(await runAll("client", timed, how))];
  assertExpected(new Map(failed), notAsClient);
});

/** What the suite can ask of any server. */
const ofAnyServer = ["server-initialize", "ping", "tools-list"];
/** What only its own example server offers, or what is the transport's, and ours is stdin and stdout. */
const notOfUs =
  /^(tools-call-|resources-|prompts-|elicitation-|json-schema-|server-sse-|logging-set-level$|completion-complete$|dns-rebinding-)/;

test("as a server `maxclaw mcp serve` does what the conformance suite asks of any server", async () => {
  await using cli = await openCli();
  const env = { PATH: process.env.PATH ?? "", HOME: cli.home, MAXCLAW_HOME: cli.home };
  const args = [programFile(), "mcp", "serve"];
  await using bridge = await startBridge("http", { command: process.execPath, args, env });
  const known = (await listed("server")).filter((name) => !ofAnyServer.includes(name));
  assert.deepEqual(
    known.filter((name) => !notOfUs.test(name)),
    [],
    "new in the suite: does it concern us?",
  );
  assertExpected(await runAll("server", ofAnyServer, ["--url", bridge.url]), {});
});
