import { after, describe, it } from "node:test";
import { scenarios } from "../../../sweep/scenarios/all.js";
import { runScenario } from "../../../sweep/scenarios/run.js";
import { Nursery } from "../../../sweep/world/child-process.js";

// The short form of `npm run sweep -- --scenario all`.
const seed = Number(process.env.SWEEP_SEED ?? Date.now() % 100_000);
const nursery = new Nursery();
after(() => nursery[Symbol.asyncDispose]());

describe("what people live through with a gateway", { concurrency: 2 }, () => {
  for (const scenario of scenarios)
    it(`${scenario.name}: ${scenario.promise}`, { skip: scenario.missing?.() ?? false }, async (t) => {
      t.diagnostic(`SWEEP_SEED=${seed}`);
      const { cost } = await runScenario(scenario, { rounds: scenario.rounds.test, seed, nursery });
      t.diagnostic(`${cost.messages} messages, ${cost.kills} kills, ${cost.stops} orderly stops. ${cost.note}`);
    });
});
