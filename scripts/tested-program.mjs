// The program as a package has it, for tests: `scripts/bundle-tests.mjs` makes dist/test-bundle/program.js of this. Compiled code is shared by all
// homes and kept in none: most tests have a new home, for which everything would be compiled again.
import { fileURLToPath } from "node:url";
import { keepHeapSmall, startLean } from "../bin/small-heap.js";
import { KeptCode } from "../dist/src/cli/start/kept-code.js";
import { Scripts } from "../dist/src/cli/start/scripts.js";
import { startProgram } from "../dist/src/cli/start/start.js";

/** A home that nobody else has: a gateway has left its code there. */
const shared = fileURLToPath(new URL("home/", import.meta.url));

startLean();
await startProgram(process.argv.slice(2), keepHeapSmall, async () => {
  const kept = KeptCode.read(shared);
  const { main } = new Scripts(fileURLToPath(new URL("../bundle/program/", import.meta.url)), kept).load("main.cjs");
  return { main, keepCode: async () => kept?.forget() };
});
