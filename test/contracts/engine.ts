import { test } from "node:test";
import { acceptingTests } from "./engine/accepting.js";
import { attemptsTests } from "./engine/attempts.js";
import type { OpenEngine } from "./engine/contract-test.js";
import { eventsTests } from "./engine/events.js";
import { lanesTests } from "./engine/lanes.js";
import { lastingTests } from "./engine/lasting.js";
import { leasesTests } from "./engine/leases.js";
import { racesTests } from "./engine/races.js";
import { recordsTests } from "./engine/records.js";

const rooms = [
  acceptingTests,
  lanesTests,
  attemptsTests,
  eventsTests,
  recordsTests,
  lastingTests,
  leasesTests,
  racesTests,
];

/** What every engine promises. */
export function testEngineContract(name: string, open: OpenEngine): void {
  for (const [number, { title, run, options }] of rooms.flat().entries())
    test(`${name}: ${title}`, async () => {
      const storage = `storage-${number}`;
      let { engine, published } = await open(storage, options);
      try {
        await run(engine, published, async () => {
          await engine[Symbol.asyncDispose]();
          ({ engine, published } = await open(storage, options));
          return engine;
        });
      } finally {
        await engine[Symbol.asyncDispose]();
      }
    });
}
