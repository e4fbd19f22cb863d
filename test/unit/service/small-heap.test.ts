import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { projectFile } from "../../support/project.js";

const run = promisify(execFile);

test("new objects have two megabytes, also after much was made, and one while the program starts", async () => {
  const program = `
    import { getHeapSpaceStatistics } from "node:v8";
    const { startLean, keepHeapSmall } = await import(${JSON.stringify(pathToFileURL(projectFile("bin/small-heap.js")))});
    const sizes = [];
    // V8 keeps the same room once more, for what is alive when it collects.
    const size = () => getHeapSpaceStatistics().find((one) => one.space_name === "new_space").space_size / 2 ** 21;
    const look = () => sizes.push(size());
    const work = () => {
      for (let n = 0, alive = []; n < 3_000_000; n++) {
        alive.push({ n });
        if (alive.length > 100_000) alive = [];
      }
    };
    startLean();
    work();
    look();
    keepHeapSmall();
    work();
    // V8 may have made it smaller meanwhile: it is made again when it says that it has collected. By rounds of work, not by the clock, which goes on
    // while other processes have the machine.
    for (let round = 0; round < 300 && size() !== 2; round++, await new Promise(setImmediate)) work();
    look();
    process.stdout.write(JSON.stringify([sizes, typeof gc]));`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program]);
  const [[first, second], exposed] = JSON.parse(stdout);
  // V8 halves it again where it finds the program idle.
  assert.ok(first <= 1, `${first} MB while it starts`);
  assert.deepEqual([second, exposed], [2, "undefined"]);
});

test("V8 is told to close the gaps between old objects where they are large and there is time, and only there", async () => {
  const program = `
    import v8, { getHeapSpaceStatistics } from "node:v8";
    import { syncBuiltinESMExports } from "node:module";
    const real = v8.setFlagsFromString;
    let told;
    v8.setFlagsFromString = (flag) => {
      if (flag.endsWith("optimize-for-size")) told = flag;
      real(flag);
    };
    syncBuiltinESMExports();
    const { startLean, keepHeapSmall } = await import(${JSON.stringify(pathToFileURL(projectFile("bin/small-heap.js")))});
    startLean();
    keepHeapSmall();
    const seen = [told];
    const alive = Array.from({ length: 1_000_000 }, (_, n) => ({ n, of: [n] }));
    globalThis.alive = alive;
    for (let at = 0; at < alive.length; at++) if (at % 5 > 2) alive[at] = undefined;
    // What is made meanwhile lives for a while, so that V8 collects old objects too. By rounds, as above.
    const recent = [];
    const until = async (flag, rounds, rest) => {
      for (let round = 0; round < rounds && told !== flag; round++) {
        const began = performance.now();
        recent[round % 8] = Array.from({ length: 60_000 }, (_, n) => ({ n }));
        const wait = rest * (performance.now() - began);
        await new Promise((resolve) => wait > 0 ? setTimeout(resolve, wait) : setImmediate(resolve));
      }
      seen.push(told);
    };
    await until("--optimize-for-size", 100, 0);
    await until("--optimize-for-size", 1000, 3);
    globalThis.alive = alive.length = 0;
    await until("--no-optimize-for-size", 1000, 3);
    process.stdout.write(JSON.stringify(seen));`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program]);
  const [atFirst, atWork, atRest, withoutGaps] = JSON.parse(stdout);
  assert.deepEqual([atFirst, atWork], ["--no-optimize-for-size", "--no-optimize-for-size"]);
  assert.deepEqual([atRest, withoutGaps], ["--optimize-for-size", "--no-optimize-for-size"]);
});

test("what runs often is compiled for speed, but later than Node 20 would; later versions are left alone", async () => {
  const program = (first: string) => `
    const { startLean } = await import(${JSON.stringify(pathToFileURL(projectFile("bin/small-heap.js")))});
    ${first};
    const isFast = new Function("f", "return (%GetOptimizationStatus(f) & 16) !== 0");
    const add = new Function("a", "b", "return a + b");
    let rounds = 0;
    for (; rounds < 10_000 && !isFast(add); rounds++, await new Promise(setImmediate))
      for (let n = 0; n < 500; n++) add(n, rounds);
    process.stdout.write(String(rounds));`;
  // Else it is the machine's load that says when.
  const flags = ["--allow-natives-syntax", "--no-concurrent-recompilation", "--input-type=module"];
  const roundsOf = async (first: string) => {
    const { stdout, stderr } = await run(process.execPath, [...flags, "-e", program(first)]);
    assert.equal(stderr, "");
    return Number(stdout);
  };
  const [early, late] = [await roundsOf(""), await roundsOf("startLean()")];
  const isNode20 = process.versions.v8.startsWith("11.");
  assert.ok(late < 10_000 && (isNode20 ? late > 3 * early : late < 2 * early), `${late} rounds instead of ${early}`);
});
