import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { createRandom } from "../../../support/random.js";
import { allPoints, mainPoints } from "../../../sweep/points.js";
import { toTable } from "../../../sweep/report.js";
import { type Job, loadEngine, type Row, Sweep } from "../../../sweep/sweep.js";
import { Nursery } from "../../../sweep/world/child-process.js";
import { doors } from "../../../sweep/world/world.js";

// The short form of `npm run sweep`: every boundary once.
const engine = await loadEngine(new URL("../../../sweep/embedded.js", import.meta.url).href);
const jobs = mainPoints(engine.boundaries).flatMap((point): readonly Job[] =>
  engine.unacknowledgedAt.includes(point.name) ? doors.map((alone) => ({ point, nth: 1, alone })) : [{ point, nth: 1 }],
);
const perWorld = 8;
const nursery = new Nursery();
after(() => nursery[Symbol.asyncDispose]());

async function inNewWorld(work: (sweep: Sweep) => Promise<void>): Promise<readonly Row[]> {
  await using sweep = await Sweep.open(engine, nursery);
  await work(sweep);
  await sweep.finish();
  return sweep.rows;
}

describe("a kill loses nothing, repeats nothing that can be told apart, and breaks no promise", {
  concurrency: 2,
}, () => {
  for (let first = 0; first < jobs.length; first += perWorld) {
    const some = jobs.slice(first, first + perWorld);
    it(`at ${some.map(({ point }) => point.name).join(", ")}`, async (t) => {
      const rows = await inNewWorld(async (sweep) => {
        for (const job of some) await sweep.run(job);
      });
      t.diagnostic(`\n${toTable(rows)}`);
      assert.ok(rows.every(({ kills }) => kills > 0));
    });
  }

  it("when a message ends the process each time: it is buried and told, and its chat goes on", async () => {
    const [before, after] = engine.buryBoundaries;
    await inNewWorld((sweep) => sweep.runPoison([before ?? "", after ?? ""]));
  });

  it("at random moments, in orderly stops, and while recovering from either", async (t) => {
    const seed = Number(process.env.SWEEP_SEED ?? Date.now() % 100_000);
    t.diagnostic(`SWEEP_SEED=${seed}`);
    const random = createRandom(seed);
    await inNewWorld(async (sweep) => {
      const known = new Set(allPoints(engine).map(({ name }) => name));
      const unknown = Object.keys(await sweep.passings()).filter((name) => !known.has(name));
      assert.deepEqual(unknown, [], "a turn passes points that the sweep does not know");
      for (let round = 0; round < 2; round += 1) await sweep.runRandomly(random);
    });
  });
});
