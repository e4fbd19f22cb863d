// `npm test`: style, types, unused code, build, then all tests. `--fast` leaves the end-to-end tests out.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { groupTests } from "./group-tests.mjs";
import { installTestPackages, nodeForPostgres, testTool } from "./test-packages.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** What takes longest, longest first: it begins first, so that no core is idle while the last one runs. `npm test -- --order` writes it. */
const orderFile = join(root, "scripts", "longest-tests.json");
/** One more than there are cores, beside those on Postgres: many tests wait for clocks and processes, and more of them at once disturb each other. */
const atOnce = Math.min(8, availableParallelism() + 1);

/** Most of their time they wait for clocks, with less than a third of a processor: they run beside the others, one at a time. */
const waiting = [
  ...["e2e/channels/channel-faults", "e2e/people/provenance", "e2e/channels/telegram", "e2e/people/interrupts"],
  ...["e2e/faults/lock-containers", "e2e/faults/never-settles"],
]
  .map((name) => join("dist", "test", `${name}.test.js`))
  .concat(
    ["e2e-channels-answers", "e2e-live", "e2e-people-questions", "e2e-api-2", "unit-whatsapp-bridge", "e2e-turn-3"].map(
      (name) => join("dist", "test-groups", `${name}.test.js`),
    ),
  );

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
async function step(name, command, args, show = console.log) {
  const began = Date.now();
  const { code, said } = await capture(command, args);
  const seconds = ((Date.now() - began) / 1000).toFixed(1);
  show(`${code === 0 ? "ok    " : "FAILED"} ${name} (${seconds} s)`);
  if (code !== 0) show(said.trimEnd());
  return code === 0;
}

function testFiles(isFast) {
  const folder = join(root, "dist", "test");
  const all = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".test.js"))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
  const longest = JSON.parse(readFileSync(orderFile, "utf8"));
  // A gateway's tests gain more from a process that they share, however long they take.
  const alone = longest.filter((file) => file.startsWith(join("dist", "test", "unit")));
  const isMeant = (file) => !isFast || !file.startsWith(join("dist", "test", "e2e"));
  const meant = (list) => list.filter(isMeant);
  const place = (file) => (longest.includes(file) ? longest.indexOf(file) : longest.length);
  return groupTests(root, meant(all), alone).toSorted((a, b) => place(a) - place(b));
}

/**
 * Runs the tests, giving `show` what the runner says; resolves with its exit code and the numbers of its summary. What they
 * start as a process is the bundle, as people run it: it starts in half the time.
 */
function runTests(files, packed, { node = process.execPath, count = atOnce, show, isOrdered = false }) {
  return new Promise((resolve) => {
    const options = [
      "--import=./scripts/source-lines.mjs",
      "--disable-warning=ExperimentalWarning",
      "--test-timeout=240000",
    ];
    const args = [...options, join("scripts", "run-tests.mjs"), String(count), ...files];
    const env = {
      ...process.env,
      MAXCLAW_TEST_PROGRAM: join(root, "dist", "test-bundle", "program.js"),
      MAXCLAW_TEST_CHILDREN: join(root, "dist", "test-bundle"),
      ...(packed === undefined ? {} : { MAXCLAW_TEST_PACKAGE: packed }),
      ...(isOrdered ? { MAXCLAW_TEST_ORDER: orderFile } : {}),
    };
    const child = spawn(node, args, { cwd: root, env, stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      show(text);
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
/** What went wrong beside the tests is told at the end, where nobody overlooks it. */
const later = [];
const check = async (name, command, args) => {
  const lines = [];
  const isFine = await step(name, command, args, (line) => lines.push(line));
  if (isFine) return void console.log(lines.join("\n"));
  later.push(...lines);
  failed.push(name);
};

if (!existsSync(bin("tsc"))) {
  console.error('The tools are not installed. Run "npm ci" first.');
  process.exit(1);
}
installTestPackages();
async function runChecks() {
  const style = ["check", "--error-on-warnings", "--diagnostic-level=warn", "--max-diagnostics=50", "."];
  await check("style", testTool("biome"), style);
  if (existsSync(join(root, "src", "web", "tsconfig.json"))) {
    await check("types of the web page", bin("tsc"), ["-p", "src/web/tsconfig.json", "--noEmit"]);
    await check("types of its worker", bin("tsc"), ["-p", "src/web/worker/tsconfig.json", "--noEmit"]);
  }
  await check("unused code", testTool("knip"), ["--no-config-hints"]);
}
const checks = runChecks();
/** Nothing can be tested without it. */
const need = async (name, command, args) => {
  if (!(await step(name, command, args))) process.exit(1);
};
await need("types and build", process.execPath, ["scripts/build.mjs"]);
// Several tests run it; only one may make it.
await need("bundle", process.execPath, ["scripts/bundle.mjs"]);

/** What npm would get, packed once for all tests that install it, unless it was packed already. */
async function pack() {
  if (process.env.MAXCLAW_TEST_PACKAGE !== undefined) return process.env.MAXCLAW_TEST_PACKAGE;
  const folder = join(root, "dist", "package");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await need("package", "npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder]);
  return join(folder, readdirSync(folder)[0]);
}
const [packed] = await Promise.all([
  isFast ? undefined : pack(),
  need("bundle of what tests start", process.execPath, ["scripts/bundle-tests.mjs"]),
]);

/** Runs these test files, and notes what is wrong with them. */
async function checkTests(name, files, options) {
  const { code, summary } = await runTests(files, packed, options);
  if (code !== 0) failed.push(name);
  else if (!summary.tests) failed.push(`${name}: none ran, of ${files.length} files`);
  if (process.env.CI === "true" && (summary.skipped || summary.todo))
    failed.push(`${(summary.skipped ?? 0) + (summary.todo ?? 0)} ${name} were skipped`);
}

const files = testFiles(isFast);
// pg-boss wants a newer Node than the floor, which all others are tested on: they run beside the others, before
// those that wait, and both are shown after them.
const onPostgres = files.filter((file) => file.includes(join("/", "postgres", "/")));
const newer = nodeForPostgres();
const isPostgresMeant = newer !== undefined && onPostgres.length > 0;
const onClocks = files.filter((file) => waiting.includes(file));
const shownLater = [];
const beside = { count: 1, show: (text) => shownLater.push(text) };
async function runBeside() {
  if (isPostgresMeant) await checkTests("tests on Postgres", onPostgres, { ...beside, node: newer });
  if (onClocks.length > 0) await checkTests("tests that wait", onClocks, beside);
}
await Promise.all([
  checkTests(
    "tests",
    files.filter((file) => !onPostgres.includes(file) && !onClocks.includes(file)),
    { show: (text) => process.stdout.write(text), isOrdered: process.argv.includes("--order") },
  ),
  runBeside(),
  checks,
]);
process.stdout.write(shownLater.join(""));
if (newer === undefined) {
  console.log("The tests of the engine on Postgres did not run: they need Node 22.12 or newer.");
  if (process.env.CI === "true") failed.push("tests on Postgres: no Node for them");
}
if (later.length > 0) console.log(later.join("\n"));
if (failed.length > 0) {
  console.log(`Failed: ${failed.join(", ")}`);
  process.exit(1);
}
