import type { TestContext } from "node:test";

/** How much longer than in `npm test` the torture runs; `npm run torture` sets it. */
export const tortureFactor = Number(process.env.TORTURE_FACTOR ?? 1);

/** A failing run is repeated by setting `TORTURE_SEED` to the seed that it has named. */
export const tortureSeed = Number(process.env.TORTURE_SEED ?? Date.now() % 1_000_000);

/** The seed, named in the test's output. */
export function seedOf(t: TestContext): number {
  t.diagnostic(`TORTURE_SEED=${tortureSeed}`);
  return tortureSeed;
}
