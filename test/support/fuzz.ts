import type { TestContext } from "node:test";
import fc from "fast-check";
import { seedOf } from "./engine/torture-options.js";

/** How a property of hostile input is run: a new seed each time, printed, and a given one with TORTURE_SEED. */
export function fuzzOptions(t: TestContext, numRuns: number): { readonly seed: number; readonly numRuns: number } {
  return { seed: seedOf(t), numRuns };
}

const oddWords = [
  ...[
    "",
    " ",
    ".",
    "..",
    "%",
    "%00",
    "%2e%2e",
    "../../etc/passwd",
    "/etc/passwd",
    "\\",
    "a\\..\\b",
    "\u0000",
    "\u0007",
    "\u009b31m",
  ],
  ...[
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "hasOwnProperty",
    "null",
    "undefined",
    "NaN",
    "true",
    "[object Object]",
  ],
  ...[
    "-1",
    "0",
    "1e309",
    "9007199254740993",
    "0x10",
    "1;2",
    "' or 1=1 --",
    "{{7*7}}",
    "$[7*7]",
    "$(id)",
    "`id`",
    "<script>",
    "&lt;",
  ],
  ...[
    "webui:fuzz",
    "webui:",
    ":",
    "system:local",
    "websocket:x",
    "http://127.0.0.1:1/x",
    "file:///etc/passwd",
    "@",
    "*",
    "?",
    "#",
    "\ud800",
  ],
  ...[
    "e\u0301",
    "\u202e\u2066",
    "\ufeff",
    "😀".repeat(200),
    "x".repeat(5000),
    "((((((((((a*)*)*)*)*)*",
    "a,b,,c",
    "2026-13-45T99:99:99Z",
  ],
];

/** A short text as somebody would write it who looks for a hole. */
export const oddText: fc.Arbitrary<string> = fc.oneof(
  { arbitrary: fc.constantFrom(...oddWords), weight: 4 },
  { arbitrary: fc.string({ unit: "binary", maxLength: 40 }), weight: 2 },
  { arbitrary: fc.string({ maxLength: 20 }), weight: 2 },
  {
    arbitrary: fc
      .tuple(fc.constantFrom("[", '{"a":', "\\", " ", "\n", "é"), fc.nat(3000))
      .map(([part, n]) => part.repeat(n)),
    weight: 1,
  },
);

/** Any JSON, with names that matter somewhere and names that must never matter. */
export function oddJson(names: readonly string[]): fc.Arbitrary<unknown> {
  const name = fc.oneof({ arbitrary: fc.constantFrom(...names), weight: 6 }, { arbitrary: oddText, weight: 1 });
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      oddText,
      fc.oneof(fc.integer(), fc.double(), fc.boolean(), fc.constant(null), fc.constant(1e21), fc.constant(-0)),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.array(fc.tuple(name, tie("value")), { maxLength: 5 }).map((pairs) => Object.fromEntries(pairs)),
    ),
  }));
  return fc.oneof(
    {
      arbitrary: fc
        .array(fc.tuple(name, value), { minLength: 1, maxLength: 6 })
        .map((pairs) => Object.fromEntries(pairs)),
      weight: 6,
    },
    { arbitrary: value, weight: 2 },
  );
}

/** The same as text, now and then broken, doubled or very deep. */
export function oddJsonText(names: readonly string[]): fc.Arbitrary<string> {
  return fc.oneof(
    { arbitrary: oddJson(names).map((value) => JSON.stringify(value) ?? ""), weight: 8 },
    {
      arbitrary: fc.tuple(oddJson(names), fc.nat(60)).map(([value, at]) => (JSON.stringify(value) ?? "").slice(0, at)),
      weight: 1,
    },
    { arbitrary: fc.nat(100_000).map((depth) => "[".repeat(depth)), weight: 1 },
    {
      arbitrary: fc.constantFrom(
        '{"__proto__":{"polluted":1}}',
        '{"constructor":{"prototype":{"polluted":1}}}',
        '{"a":1,"a":2}',
        "\ufeff{}",
        "",
      ),
      weight: 1,
    },
    { arbitrary: oddText, weight: 1 },
  );
}

/** True as long as nothing has reached every object there is. */
export function isUnpolluted(): boolean {
  return !("polluted" in {}) && Object.keys(Object.prototype).length === 0;
}
