import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { frozenCopy } from "../../../src/engine/frozen-copy.js";
import { fuzzOptions } from "../../support/fuzz.js";

const anything = fc.anything({
  withBoxedValues: true,
  withDate: true,
  withNullPrototype: true,
  withObjectString: true,
  withSparseArray: true,
  withMap: true,
});

test("the copy of anything is what its JSON reads back as, and frozen throughout", (t) => {
  fc.assert(
    fc.property(anything, (value) => {
      const text = JSON.stringify({ value });
      assert.equal(JSON.stringify(frozenCopy({ value })), text);
      assert.deepStrictEqual(frozenCopy({ value }), JSON.parse(text));
      assertFrozen(frozenCopy({ value }));
    }),
    fuzzOptions(t, 500),
  );
});

test("what JSON cannot hold is refused", () => {
  assert.throws(() => frozenCopy({ size: 1n }), TypeError);
});

function assertFrozen(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  assert.ok(Object.isFrozen(value));
  for (const inner of Object.values(value)) assertFrozen(inner);
}
