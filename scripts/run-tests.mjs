// Runs compiled test files, several at a time, in the order given: `node scripts/run-tests.mjs <at once> <files>`.
// `node --test` would sort them by name, and end with one core idle while the last long file runs.
import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { SecondTries } from "./second-tries.mjs";

for (const name of ["name-test-file.mjs", "follow-tests.mjs"])
  process.execArgv.push(`--import=${new URL(name, import.meta.url)}`);
const [atOnce, ...files] = process.argv.slice(2);
/** Of one file, or of all that share its process; a newer Node holds each test to `--test-timeout` beside it. */
const limitMs = 1_200_000;
const shown = Number(process.env.MAXCLAW_TEST_TIMES ?? 12);

const tries = new SecondTries((held, concurrency) => run({ files: held, concurrency, timeout: limitMs }));
const reporter = new spec();
reporter.pipe(process.stdout);
const { longest, repeated, isGreen } = await tries.run(files, Number(atOnce), (event) => reporter.write(event));
const lines = longest.slice(0, shown).map(([file, took]) => `${took.toFixed(1).padStart(6)} s ${relative("", file)}`);
console.log(`The longest files:\n${lines.join("\n")}`);
if (process.env.MAXCLAW_TEST_ORDER !== undefined)
  writeFileSync(
    process.env.MAXCLAW_TEST_ORDER,
    `${JSON.stringify(
      longest.slice(0, 60).map(([file]) => relative("", file)),
      null,
      2,
    )}\n`,
  );
for (const { file, failure } of repeated)
  console.log(`Failed beside others and was run again alone: ${relative("", file)}: ${failure}`);
for (const event of tries.summary()) reporter.write(event);
reporter.end();
if (!isGreen) process.exitCode = 1;
