// `npm test`: style, types, unused code, build, then all tests. `--fast` leaves the end-to-end tests out.
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
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
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".test.js"))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((file) => !isFast || !file.startsWith(join("dist", "test", "e2e")))
    .sort();
}

/** Runs the tests, passing on what the runner says; resolves with its exit code and the numbers of its summary. */
function runTests(files) {
  return new Promise((resolve) => {
    const args = [
      "--enable-source-maps",
      "--disable-warning=ExperimentalWarning",
      "--test",
      "--test-reporter=spec",
      "--test-concurrency=2",
      "--test-timeout=240000",
    ];
    const child = spawn(process.execPath, [...args, ...files], { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
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
await check("style", bin("biome"), [
  "check",
  "--error-on-warnings",
  "--diagnostic-level=warn",
  "--max-diagnostics=50",
  ".",
]);
if (existsSync(join(root, "src", "web", "tsconfig.json"))) {
  await check("types of the web page", bin("tsc"), ["-p", "src/web/tsconfig.json", "--noEmit"]);
}
await check("unused code", bin("knip"), ["--no-config-hints"]);
if (!(await step("types and build", process.execPath, ["scripts/build.mjs"]))) process.exit(1);

const files = testFiles(isFast);
const { code, summary } = await runTests(files);
if (code !== 0) failed.push("tests");
else if (!summary.tests) failed.push(`tests: none ran, of ${files.length} files`);
if (process.env.CI === "true" && (summary.skipped || summary.todo)) {
  failed.push(`${(summary.skipped ?? 0) + (summary.todo ?? 0)} tests were skipped`);
}
if (failed.length > 0) {
  console.log(`Failed: ${failed.join(", ")}`);
  process.exit(1);
}
