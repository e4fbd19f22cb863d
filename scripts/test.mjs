// `npm test`: style, types, unused code, build, then all tests. `--fast` leaves the end-to-end tests out.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { groupTests } from "./group-tests.mjs";
import { installTestPackages, nodeForPostgres, testTool } from "./test-packages.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The test files that take longest, longest first: they begin first, so that no core is idle while the last one runs. */
const longest = [
  ...["web-access", "web-long-chat", "attack", "sweep", "update", "smoke", "update-refused"],
  ...["sweep-scenarios", "mcp-conformance", "parts", "web-skills", "web-settings", "web-inbox"],
  ...["web-mcp", "web-chats", "owner-memory", "cron-interface", "provenance", "doctor"],
  ...["damaged-home", "channel-faults", "web", "go-programs", "cli-commands", "every-key"],
  ...["channel-email", "replay", "bad-input", "known-addresses", "tools-browser", "engine-suspects"],
  ...["service-command", "run", "completion", "install", "mcp-cli", "telegram-parked"],
];
/** One more than there are cores: many tests wait for clocks and processes. */
const atOnce = Math.min(8, availableParallelism() + 1);

const bin = (name) => join(root, "node_modules", ".bin", name);

/** Runs one command; resolves with its exit code and all it said. */
function capture(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    const listen = (stream) => stream.setEncoding("utf8").on("data", (text) => (said += text));
    listen(child.stdout);
    listen(child.stderr);
    child.once("error", (error) => resolve({ code: 1, said: `${command} did not start: ${error.message}` }));
    child.once("close", (code) => resolve({ code: code ?? 1, said }));
  });
}

/** One line when fine; everything the step said when not. */
async function step(name, command, args) {
  const began = Date.now();
  const { code, said } = await capture(command, args);
  const seconds = ((Date.now() - began) / 1000).toFixed(1);
  console.log(`${code === 0 ? "ok    " : "FAILED"} ${name} (${seconds} s)`);
  if (code !== 0) console.log(said.trimEnd());
  return code === 0;
}

function testFiles(isFast) {
  const folder = join(root, "dist", "test");
  const all = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".test.js"))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
  const first = longest.map((name) => {
    const found = all.find((file) => basename(file) === `${name}.test.js`);
    if (found === undefined)
      throw new Error(`scripts/test.mjs names ${name} as a long test, but there is no such test`);
    return found;
  });
  const isMeant = (file) => !isFast || !file.startsWith(join("dist", "test", "e2e"));
  const meant = (list) => list.filter(isMeant);
  return groupTests(root, meant([...new Set([...first, ...all])]), meant(first));
}

/**
 * Runs the tests, passing on what the runner says; resolves with its exit code and the numbers of its summary. What they
 * start as a process is the bundle, as people run it: it starts in half the time.
 */
function runTests(files, packed, node = process.execPath) {
  return new Promise((resolve) => {
    const options = [
      "--import=./scripts/source-lines.mjs",
      "--disable-warning=ExperimentalWarning",
      "--test-timeout=240000",
    ];
    const args = [...options, join("scripts", "run-tests.mjs"), String(atOnce), ...files];
    const env = {
      ...process.env,
      MAXCLAW_TEST_PROGRAM: join(root, "dist", "test-bundle", "program.js"),
      MAXCLAW_TEST_CHILDREN: join(root, "dist", "test-bundle"),
      ...(packed === undefined ? {} : { MAXCLAW_TEST_PACKAGE: packed }),
    };
    const child = spawn(node, args, { cwd: root, env, stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      process.stdout.write(text);
      said += text;
    });
    child.once("error", (error) => {
      console.error(`The test runner did not start: ${error.message}`);
      resolve({ code: 1, summary: {} });
    });
    child.once("close", (code) => {
      const summary = {};
      for (const [, name, number] of said.matchAll(/^.{0,12}\b(tests|skipped|todo) (\d+).{0,6}$/gm)) {
        summary[name] = Number(number);
      }
      resolve({ code: code ?? 1, summary });
    });
  });
}

const isFast = process.argv.includes("--fast");
const failed = [];
const check = async (name, command, args) => {
  if (!(await step(name, command, args))) failed.push(name);
};

if (!existsSync(bin("tsc"))) {
  console.error('The tools are not installed. Run "npm ci" first.');
  process.exit(1);
}
installTestPackages();
const checks = async () => {
  const style = ["check", "--error-on-warnings", "--diagnostic-level=warn", "--max-diagnostics=50", "."];
  await check("style", testTool("biome"), style);
  if (existsSync(join(root, "src", "web", "tsconfig.json"))) {
    await check("types of the web page", bin("tsc"), ["-p", "src/web/tsconfig.json", "--noEmit"]);
    await check("types of its worker", bin("tsc"), ["-p", "src/web/worker/tsconfig.json", "--noEmit"]);
  }
  await check("unused code", testTool("knip"), ["--no-config-hints"]);
};
const [isBuilt] = await Promise.all([step("types and build", process.execPath, ["scripts/build.mjs"]), checks()]);
if (!isBuilt) process.exit(1);
// Several tests run it; only one may make it.
if (!(await step("bundle", process.execPath, ["scripts/bundle.mjs"]))) process.exit(1);
if (!(await step("bundle of what tests start", process.execPath, ["scripts/bundle-tests.mjs"]))) process.exit(1);

/** What npm would get, packed once for all tests that install it. */
async function pack() {
  const folder = join(root, "dist", "package");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  if (!(await step("package", "npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder])))
    process.exit(1);
  return join(folder, readdirSync(folder)[0]);
}
const packed = isFast ? undefined : await pack();

/** Runs these test files, and notes what is wrong with them. */
async function checkTests(name, files, node) {
  const { code, summary } = await runTests(files, packed, node);
  if (code !== 0) failed.push(name);
  else if (!summary.tests) failed.push(`${name}: none ran, of ${files.length} files`);
  if (process.env.CI === "true" && (summary.skipped || summary.todo))
    failed.push(`${(summary.skipped ?? 0) + (summary.todo ?? 0)} ${name} were skipped`);
}

const files = testFiles(isFast);
// pg-boss wants a newer Node than the floor, which all others are tested on.
const onPostgres = files.filter((file) => file.includes(join("/", "postgres", "/")));
await checkTests(
  "tests",
  files.filter((file) => !onPostgres.includes(file)),
);
const newer = nodeForPostgres();
if (newer === undefined) {
  console.log("The tests of the engine on Postgres did not run: they need Node 22.12 or newer.");
  if (process.env.CI === "true") failed.push("tests on Postgres: no Node for them");
} else if (onPostgres.length > 0) await checkTests("tests on Postgres", onPostgres, newer);
if (failed.length > 0) {
  console.log(`Failed: ${failed.join(", ")}`);
  process.exit(1);
}
