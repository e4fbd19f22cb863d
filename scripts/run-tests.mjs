// Runs compiled test files, several at a time, in the order given: `node scripts/run-tests.mjs <at once> <files>`.
// `node --test` would sort them by name, and end with one core idle while the last long file runs.
import { relative } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";

const [atOnce, ...files] = process.argv.slice(2);
/** Of one file; a newer Node holds each test to `--test-timeout` beside it. */
const limitMs = 480_000;
const shown = 12;

/** How long the tests of each file took, in seconds. */
const seconds = new Map();
const results = run({ files, concurrency: Number(atOnce), timeout: limitMs });
for (const type of ["test:pass", "test:fail"])
  results.on(type, ({ file, nesting, details }) => {
    if (nesting === 0 && file !== undefined) seconds.set(file, (seconds.get(file) ?? 0) + details.duration_ms / 1000);
  });
results.on("test:fail", ({ todo }) => {
  if (todo === undefined || todo === false) process.exitCode = 1;
});
// Before the runner's own summary, which is what whoever looks at the end of the output wants to see.
results.on("test:diagnostic", ({ message, nesting }) => {
  if (nesting !== 0 || !/^tests \d+$/.test(message)) return;
  const longest = [...seconds].toSorted(([, a], [, b]) => b - a).slice(0, shown);
  const lines = longest.map(([file, took]) => `${took.toFixed(1).padStart(6)} s ${relative("", file)}`);
  console.log(`The longest files:\n${lines.join("\n")}`);
});
results.compose(new spec()).pipe(process.stdout);
