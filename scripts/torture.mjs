// `npm run torture`: the torture tests of `npm test`, many times longer, and with a gigabyte of history. Takes an hour or
// so; TORTURE_FACTOR=5 is shorter, TORTURE_SEED=<number> repeats a run that has failed. More arguments name the tests,
// e.g. `npm run torture -- power-cut`.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { TORTURE_FACTOR = "20" } = process.env;
const wanted = process.argv.slice(2);

const run = (args) => {
  const options = { cwd: root, stdio: "inherit", env: { ...process.env, TORTURE_FACTOR } };
  const { status, error } = spawnSync(process.execPath, args, options);
  if (error) console.error(`Node did not start: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
};

run([join("scripts", "build.mjs")]);
const folder = join("dist", "test", "unit", "torture");
const files = readdirSync(join(root, folder))
  .filter((name) => name.startsWith("torture-") && name.endsWith(".test.js"))
  .filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
  .map((name) => join(folder, name));
if (files.length === 0) {
  console.error(`No torture test is called ${wanted.join(" or ")}.`);
  process.exit(1);
}
run([
  "--enable-source-maps",
  "--test",
  "--test-reporter=spec",
  "--test-concurrency=1",
  "--test-timeout=3600000",
  ...files,
]);
