import { createRandom } from "../../support/random.js";
import type { Nursery } from "../world/child-process.js";
import type { Cost, Scenario } from "./scenario.js";

export interface ScenarioRow {
  readonly scenario: Scenario;
  readonly rounds: number;
  readonly cost: Cost;
}

/** @throws with the seed, so that the run can be repeated */
export async function runScenario(
  scenario: Scenario,
  { rounds, seed, nursery }: { readonly rounds: number; readonly seed: number; readonly nursery: Nursery },
): Promise<ScenarioRow> {
  try {
    return { scenario, rounds, cost: await scenario.run({ rounds, random: createRandom(seed), nursery }) };
  } catch (error) {
    const again = `npm run sweep -- --scenario "${scenario.name}" --rounds ${rounds} --seed ${seed}`;
    throw new Error(`${again}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
