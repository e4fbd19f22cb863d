import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import fc from "fast-check";
import { loadJournal } from "../../../src/engine/embedded/journal/load.js";
import { repairJournal } from "../../../src/engine/embedded/journal/repair.js";
import { EngineError } from "../../../src/errors.js";
import { silentLog } from "../../../src/log.js";
import { damages, inflict } from "../../support/engine/damage.js";
import { openIn, recordingLog } from "../../support/engine/engine-kit.js";
import { describeSegment, fingerprint, memoryFolder, type Specimen, specimen } from "../../support/engine/torture.js";
import { seedOf, tortureFactor } from "../../support/engine/torture-options.js";

const kinds = [false, true] as const;
const nameOf = (isRotated: boolean): string => (isRotated ? "a later segment" : "the first segment");

/** A home whose journal is these bytes, and nothing else. */
function place(home: string, { name }: Specimen, bytes: Buffer): string {
  const folder = join(home, "journal");
  fs.mkdirSync(folder, { recursive: true });
  fs.rmSync(join(home, "journal.mark"), { force: true });
  for (const other of fs.readdirSync(folder)) fs.rmSync(join(folder, other));
  fs.writeFileSync(join(folder, name), bytes);
  return join(folder, name);
}

type Outcome = { readonly state: string } | { readonly refusal: EngineError };

/** Opens the journal. Whatever comes from it, it is what it says it is: whole, or refused and left alone. */
async function open(home: string, original: Specimen, damaged: Buffer): Promise<Outcome> {
  const path = place(home, original, damaged);
  try {
    const { records, size } = await loadJournal(home, silentLog);
    assert.deepEqual(fs.readFileSync(path), damaged.subarray(0, size), "only a tail was cut");
    return { state: fingerprint(records) };
  } catch (error) {
    assert.ok(error instanceof EngineError && error.kind === "corrupt", String(error));
    assert.deepEqual(fs.readFileSync(path), damaged, "a refused journal is left alone");
    assert.match(error.message, /maxclaw repair/);
    return { refusal: error };
  }
}

/** What a damaged journal may be taken for: some whole transactions from the start, or nothing at all. */
function assertPrefix(outcome: Outcome, { lineEnds, stateAt, headEnd }: Specimen, from = headEnd): void {
  if ("refusal" in outcome) return;
  const allowed = lineEnds.filter((end) => end >= from).map(stateAt);
  assert.ok(allowed.includes(outcome.state), "the state is that after some whole transaction");
}

for (const isRotated of kinds) {
  test(`${nameOf(isRotated)}, cut at every byte of its last lines, holds exactly the whole transactions before the cut`, async (t) => {
    const original = await specimen(t, isRotated);
    const { bytes, lineEnds, stateAt } = original;
    const home = memoryFolder(t);
    const first = tortureFactor > 1 ? original.headEnd : (lineEnds.at(isRotated ? -2 : -3) ?? 0);
    for (let cut = first; cut <= bytes.length; cut += 1) {
      const path = place(home, original, bytes.subarray(0, cut));
      const log = recordingLog();
      const { records, size } = await loadJournal(home, log);
      assert.equal(fingerprint(records), stateAt(cut), `cut at ${cut}`);
      assert.equal(
        size,
        lineEnds.findLast((end) => end <= cut),
      );
      assert.equal(fs.statSync(path).size, size);
      assert.equal(log.lines.length, size === cut ? 0 : 1, "a cut is told, once");
    }
  });

  test(`${nameOf(isRotated)}, cut anywhere in its head, is refused and can be repaired`, async (t) => {
    const original = await specimen(t, isRotated);
    const home = memoryFolder(t);
    const step = tortureFactor > 1 ? 1 : Math.max(1, Math.floor(original.headEnd / 40));
    for (let cut = 0; cut < original.headEnd; cut += step) {
      const outcome = await open(home, original, original.bytes.subarray(0, cut));
      assert.ok("refusal" in outcome, `cut at ${cut}`);
      assert.equal((await repairJournal(home)).setAside.length, 1);
      await loadJournal(home, silentLog);
    }
  });

  test(`${nameOf(isRotated)} with one byte changed is whole up to that line, or refused`, async (t) => {
    const original = await specimen(t, isRotated);
    const { bytes, lineEnds, stateAt } = original;
    const home = memoryFolder(t);
    const lastLine = lineEnds.at(-2) ?? 0;
    const inFull = tortureFactor > 1 ? original.headEnd : (lineEnds.at(-2) ?? 0);
    for (let offset = 0; offset < bytes.length; offset += offset < inFull ? 89 : 7) {
      for (const change of [0x01, 0x80, (bytes[offset] ?? 0) ^ 0x0a, bytes[offset] ?? 0]) {
        if (change === 0) continue;
        const damaged = Buffer.from(bytes);
        damaged[offset] = (bytes[offset] ?? 0) ^ change;
        const outcome = await open(home, original, damaged);
        // The last line says that everything before it was safe on the disk.
        const lineStart = lineEnds.findLast((end) => end <= offset) ?? 0;
        if (lineStart < lastLine) assert.ok("refusal" in outcome, `byte ${offset} ^ ${change}`);
        else assert.equal("state" in outcome && outcome.state, stateAt(lineStart));
      }
    }
  });
}

test("a journal that was damaged in any way is whole up to some transaction or refused, and can always be repaired", async (t) => {
  const seed = seedOf(t);
  const home = memoryFolder(t);
  for (const isRotated of kinds) {
    const original = await specimen(t, isRotated);
    const property = fc.asyncProperty(fc.array(damages, { minLength: 1, maxLength: 3 }), async (list) => {
      const damaged = list.reduce(inflict, original.bytes);
      let intact = 0;
      while (intact < damaged.length && damaged[intact] === original.bytes[intact]) intact += 1;
      const outcome = await open(home, original, damaged);
      // What is before the first damaged byte is never given up without a word.
      assertPrefix(outcome, original, original.lineEnds.findLast((end) => end <= intact) ?? 0);
      if ("state" in outcome) return;
      const { setAside } = await repairJournal(home);
      assert.deepEqual(
        setAside.map((path) => fs.readFileSync(path)),
        [damaged],
      );
      const { records } = await loadJournal(home, silentLog);
      const state = fingerprint(records);
      assert.deepEqual(await repairJournal(home), { setAside: [], lostBytes: 0, keptTransactions: 0 });
      assert.equal(fingerprint((await loadJournal(home, silentLog)).records), state);
    });
    await fc.assert(property, { seed, numRuns: 100 * tortureFactor });
  }
});

test("of two segments, each cut or damaged in any way, one is taken as a whole, or both are refused", async (t) => {
  const seed = seedOf(t);
  const home = memoryFolder(t);
  const old = await specimen(t, false);
  const next = await nextSegment(t, old);
  const property = fc.asyncProperty(
    fc.array(damages, { maxLength: 1 }),
    fc.array(damages, { maxLength: 1 }),
    async (toOld, toNew) => {
      const first = toOld.reduce(inflict, old.bytes);
      const second = toNew.reduce(inflict, next.bytes);
      place(home, old, first);
      fs.writeFileSync(join(home, "journal", next.name), second);
      const outcome = await loadJournal(home, silentLog).then(
        ({ records }) => ({ state: fingerprint(records) }),
        (error: unknown) => ({ error }),
      );
      if ("error" in outcome) {
        const { error } = outcome;
        assert.ok(toOld.length > 0, "the old segment is whole, and all that the new one says is in it");
        assert.ok(error instanceof EngineError && error.kind === "corrupt", String(error));
        assert.match(error.message, /maxclaw repair/);
        assert.deepEqual(fs.readFileSync(join(home, "journal", old.name)), first);
        assert.deepEqual(fs.readFileSync(join(home, "journal", next.name)), second);
        await repairJournal(home);
        await loadJournal(home, silentLog);
        return;
      }
      const allowed = [old, next].flatMap(({ lineEnds, headEnd, stateAt }) =>
        lineEnds.filter((end) => end >= headEnd).map(stateAt),
      );
      assert.ok(outcome.state === next.stateAt(next.bytes.length) || toNew.length > 0, "the whole new one counts");
      assert.ok(allowed.includes(outcome.state));
    },
  );
  await fc.assert(property, { seed, numRuns: 60 * tortureFactor });
});

/** The segment that follows, as it is before the one before it is dropped. */
async function nextSegment(t: TestContext, old: Specimen): Promise<Specimen> {
  const home = memoryFolder(t);
  place(home, old, old.bytes);
  let copy: { name: string; bytes: Buffer } | undefined;
  const { engine } = await openIn(home, {
    quietMs: 60_000,
    onBoundary: (boundary) => {
      if (boundary !== "rotate:checkpoint-written") return;
      const name = fs.readdirSync(join(home, "journal")).sort().at(-1) ?? "";
      copy = { name, bytes: fs.readFileSync(join(home, "journal", name)) };
    },
  });
  await engine[Symbol.asyncDispose]();
  assert.ok(copy !== undefined);
  return describeSegment(copy.name, copy.bytes);
}
