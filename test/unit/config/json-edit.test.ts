import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import JSON5 from "json5";
import { withValue } from "../../../src/config/document/json-edit.js";
import { readJson } from "../../../src/config/document/json-walk.js";
import { fuzzOptions } from "../../support/fuzz.js";

const key = fc.constantFrom("a", "b", "c", "long key", "$id", "ü", '"', "'", "__proto__");
const plain = fc.oneof(fc.string(), fc.integer(), fc.double({ noNaN: true }), fc.boolean(), fc.constant(null));

/** Text before and after each token: spaces and comments, each with a number of its own. */
const blank = fc.constantFrom("", " ", "\n  ", "\r\n", "/*#*/", " // #\n", '// " { , #\n\t', "/* } #\n */ ");

interface Written {
  readonly text: string;
  readonly value: unknown;
}

const member = (value: fc.Arbitrary<Written>) =>
  fc.tuple(fc.tuple(blank, blank, blank, blank), key, fc.boolean(), value);

const { written } = fc.letrec<{ written: Written; object: Written }>((tie) => ({
  written: fc.oneof(
    { maxDepth: 4 },
    plain.map((value) => ({ text: JSON.stringify(value), value: JSON.parse(JSON.stringify(value)) })),
    fc.constantFrom<Written>(
      { text: "0x1F", value: 31 },
      { text: ".5", value: 0.5 },
      { text: "'it\\'s'", value: "it's" },
      { text: '"a\\\nb\\x41\\v"', value: "abA\v" },
      { text: "12345678901234567890", value: Number("12345678901234567890") },
    ),
    tie("object"),
    fc
      .tuple(fc.array(fc.tuple(blank, tie("written"), blank)), fc.boolean(), blank)
      .map(([entries, trailing, last]) => ({
        text: `[${entries.map(([before, { text }, after]) => before + text + after).join(",")}${trailing && entries.length > 0 ? "," : ""}${last}]`,
        value: entries.map(([, { value }]) => value),
      })),
  ),
  object: fc.tuple(fc.array(member(tie("written"))), fc.boolean(), blank).map(([entries, trailing, last]) => ({
    text: `{${entries
      .map(([[one, two, three, four], name, bare, { text }]) => {
        const isWord = bare && /^[$\w\u00fc]+$/.test(name);
        return `${one}${isWord ? name : JSON.stringify(name)}${two}:${three}${text}${four}`;
      })
      .join(",")}${trailing && entries.length > 0 ? "," : ""}${last}}`,
    value: Object.fromEntries(entries.map(([, name, , { value }]) => [name, value])),
  })),
}));

const config = fc
  .tuple(blank, fc.array(member(written)), fc.boolean(), blank)
  .map(([first, entries, trailing, last]) => {
    const members = entries.map(
      ([[one, two, three, four], name, , { text }]) => `${one}${JSON.stringify(name)}${two}:${three}${text}${four}`,
    );
    let count = 0;
    // Each comment can be told from every other one.
    return `${first}{${members.join(",")}${trailing && members.length > 0 ? "," : ""}${last}}`.replaceAll(
      /#/g,
      () => `#${count++}#`,
    );
  });

function treeOf(text: string) {
  const tree = readJson(text);
  assert.ok(!("fault" in tree), JSON.stringify(tree));
  return tree;
}

const commentsOf = (text: string): string[] =>
  treeOf(text)
    .comments.map(({ start, end }) => /#\d+#/.exec(text.slice(start, end))?.[0] ?? "")
    .sort();

test("what people write is read as the JSON5 library reads it", (t) => {
  fc.assert(
    fc.property(config, (text) => assert.deepEqual(treeOf(text).root.value, JSON5.parse(text))),
    fuzzOptions(t, 500),
  );
  const marks = fc.array(
    fc.constantFrom("{", "}", "[", "]", ",", ":", '"', "'", "a", "1", "-", ".", "//", "/*", "*/", "\n", "\\", "true"),
  );
  fc.assert(
    fc.property(marks, (parts) => {
      const text = parts.join("");
      const found = readJson(text);
      let expected: { readonly value: unknown } | undefined;
      try {
        expected = { value: JSON5.parse(text) };
      } catch {
        expected = undefined;
      }
      if (expected === undefined) assert.ok("fault" in found, text);
      else assert.deepEqual("fault" in found ? found.fault : found.root.value, expected.value);
    }),
    fuzzOptions(t, 1000),
  );
});

test("any change keeps every comment and every other value", (t) => {
  const value = fc.option(fc.jsonValue({ maxDepth: 3 }), { nil: undefined });
  fc.assert(
    fc.property(config, fc.array(key, { minLength: 1, maxLength: 3 }), value, (text, path, wanted) => {
      const next = JSON.parse(JSON.stringify(wanted ?? null));
      const expected = applied(JSON5.parse(text), path, wanted === undefined ? undefined : next);
      if (expected === undefined) return assert.throws(() => withValue(text, path, next), /is not an object/);
      const changed = withValue(text, path, wanted === undefined ? undefined : next);
      assert.deepEqual(JSON5.parse(changed), expected.root, changed);
      assert.deepEqual(commentsOf(changed), commentsOf(text), changed);
    }),
    fuzzOptions(t, 1000),
  );
});

test("a change of plain JSON leaves plain JSON", (t) => {
  const object = fc.dictionary(key, fc.jsonValue({ maxDepth: 3 }), { noNullPrototype: true });
  fc.assert(
    fc.property(
      object,
      fc.constantFrom(0, 2, "\t"),
      fc.array(key, { minLength: 1, maxLength: 3 }),
      (root, indent, path) => {
        const text = JSON.stringify(root, undefined, indent);
        const expected = applied(JSON.parse(text), path, ["x"]);
        if (expected === undefined) return;
        const added = withValue(text, path, ["x"]);
        assert.deepEqual(JSON.parse(added), expected.root);
        if (indent === 2 && !Object.hasOwn(root, path[0] ?? "") && Object.keys(root).length > 0)
          assert.equal(added, JSON.stringify(expected.root, undefined, 2));
        JSON.parse(withValue(added, path, undefined));
      },
    ),
    fuzzOptions(t, 300),
  );
});

/** The same on the value; undefined where something else is in the way. */
function applied(root: unknown, path: readonly string[], value: unknown): { readonly root: unknown } | undefined {
  const [name, ...rest] = path;
  if (name === undefined) return { root: value };
  if (typeof root !== "object" || root === null || Array.isArray(root)) return undefined;
  const own = Object.entries(root).find(([each]) => each === name)?.[1];
  if (rest.length === 0 && value === undefined)
    return { root: Object.fromEntries(Object.entries(root).filter(([each]) => each !== name)) };
  if (own === undefined || own === null) {
    if (value === undefined) return { root };
    const nested = rest.reduceRight((inner, each) => Object.fromEntries([[each, inner]]), value);
    return { root: withEntry(root, name, nested) };
  }
  const inner = applied(own, rest, value);
  return inner && { root: withEntry(root, name, inner.root) };
}

function withEntry(root: object, name: string, value: unknown): object {
  return Object.fromEntries([...Object.entries(root).filter(([each]) => each !== name), [name, value]]);
}
