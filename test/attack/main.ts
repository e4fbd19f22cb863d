import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { projectFile } from "../support/project.js";
import type { Mode } from "./judge/oracle.js";
import { putBetweenMarks, storyOf, sumOf, toolTable, toTable } from "./judge/report.js";
import { jobOf, randomJobs, runAll } from "./run.js";
import { scenarios } from "./scenarios/all.js";

// `npm run attack`: plays the worst model against a gateway, by attacks that somebody thought of and by random programs.
const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    rounds: { type: "string", default: "40" },
    steps: { type: "string", default: "25" },
    mode: { type: "string" },
    sandbox: { type: "string" },
    only: { type: "string" },
    scale: { type: "string", default: "4" },
    "at-once": { type: "string", default: "2" },
    ignore: { type: "string" },
    verbose: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
  },
});
const seed = Number(values.seed ?? Date.now() % 100_000);
const named = scenarios.filter(
  ({ group, name }) => values.only === undefined || `${group}: ${name}`.includes(values.only),
);
// One seed alone: the same programs once more.
const isWhole = values.only === undefined && values.seed === undefined;
const isRandom = values.only === undefined || "random".startsWith(values.only);
const jobs = [
  ...(isWhole || values.only !== undefined ? named.map((scenario) => jobOf(scenario, Number(values.scale))) : []),
  ...(isRandom
    ? randomJobs({
        seed,
        rounds: Number(values.rounds),
        steps: Number(values.steps),
        mode: toMode(values.mode),
        sandbox: toSandbox(values.sandbox),
      })
    : []),
];
if (jobs.length === 0) throw new Error(`There is no attack "${values.only}"`);
console.log(`seed ${seed}`);

const began = Date.now();
const outcomes = await runAll(jobs, {
  atOnce: Number(values["at-once"]),
  ignored: values.ignore === undefined ? undefined : new RegExp(values.ignore),
  onEnd(job, outcome) {
    const n = jobs.filter(({ group }) => group === "random").indexOf(job);
    const which = n === -1 ? "" : `, seed ${seed + n}`;
    const isHeld = outcome.violations.length === 0;
    console.log(`${isHeld ? "held  " : "BROKEN"} ${job.group}: ${job.name}${which} (${sumOf(outcome.calls)} calls)`);
    for (const { what, text } of outcome.violations) console.log(`       ${what}: ${text}`);
    if (values.verbose) console.log(storyOf(outcome));
  },
});
const broken = outcomes.filter(({ violations }) => violations.length > 0);
if (!values.verbose) for (const outcome of broken.slice(0, 5)) console.log(`\n${storyOf(outcome)}`);
const calls = outcomes.reduce((sum, outcome) => sum + sumOf(outcome.calls), 0);
const sentence = `${outcomes.length - broken.length} of ${outcomes.length} held, ${calls} tool calls, seed ${seed}`;
console.log(`\n${toTable(outcomes)}\n\n${sentence}, ${Math.round((Date.now() - began) / 1000)} s`);
if (values.write && isWhole) {
  const page = projectFile("docs/security.md");
  const date = new Date().toISOString().slice(0, 10);
  const tools = `Tools called in random programs: ${toolTable(outcomes)}.`;
  const text = `${date}: ${sentence}, Node ${process.versions.node}.\n\n${toTable(outcomes)}\n\n${tools}`;
  writeFileSync(page, putBetweenMarks(readFileSync(page, "utf8"), text));
}
process.exitCode = broken.length === 0 ? 0 : 1;

function toMode(text: string | undefined): Mode | undefined {
  if (text === undefined || text === "ask" || text === "auto" || text === "safe") return text;
  throw new Error(`"${text}" is not a mode. Modes are ask, auto and safe.`);
}

function toSandbox(text: string | undefined): "auto" | "off" | undefined {
  if (text === undefined || text === "auto" || text === "off") return text;
  throw new Error(`"${text}" is not a sandbox. There are auto and off.`);
}
