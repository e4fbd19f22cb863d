import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startBridge } from "../../support/fakes/mcp/mcp-bridge.js";
import { childFile, packageFolder, programFile } from "../../support/project.js";
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

test("as a client maxclaw does what the conformance suite asks for", async () => {
  const scenarios = await listed("client");
  assert.ok(scenarios.length >= 23 && scenarios.includes("auth/scope-step-up"), scenarios.join(" "));
  const command = `${process.execPath} ${childFile("conformance/client.js")}`;
  const failed = await runAll("client", scenarios, ["--command", command, "--timeout", String(limitMs - 10_000)]);
  assertExpected(failed, notAsClient);
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
