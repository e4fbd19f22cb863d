import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { storyOf } from "../../attack/judge/report.js";
import { type Job, jobOf, randomJobs, run } from "../../attack/run.js";
import { scenarios } from "../../attack/scenarios/all.js";
import { withoutSandbox } from "../../support/worlds/needs.js";

// The short form of `npm run attack`: attacks of each class, and random programs of fixed seeds.
const named = scenarios.filter(({ isShort }) => isShort === true).map((scenario) => jobOf(scenario, 1));
const programs = [
  ...randomJobs({ seed: 1, rounds: 1, steps: 12, mode: "ask" }),
  ...randomJobs({ seed: 11, rounds: 1, steps: 12, mode: "auto" }),
];

async function holds(job: Job): Promise<void> {
  const outcome = await run(job);
  assert.equal(outcome.violations.length, 0, storyOf(outcome));
}

describe("the gateway holds against", { skip: withoutSandbox(), concurrency: 2 }, () => {
  for (const job of named) test(`${job.group}: ${job.name}`, () => holds(job));
  for (const [n, job] of programs.entries()) test(`random ${job.name}, program ${n + 1}`, () => holds(job));
});
