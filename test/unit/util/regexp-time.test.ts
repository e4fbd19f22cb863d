import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { cpuMs, isSteep } from "../../support/cost.js";
import { hostileUnits } from "../../support/hostile.js";
import { projectFile } from "../../support/project.js";
import { type FoundRegExp, regExpsIn } from "../../support/rules/regexp-literals.js";

/** What takes longer is looked at closely: it is no more than a few times as long as linear ones need. */
const suspectMs = 2;
/** The longest is hostile enough; what is far worse than that is noticed earlier, and needs no minutes. */
const lengths = [20, 300, 2000, 16_000];

/** Slow in what somebody writes who wants to stop the gateway, and never given that: why not. */
const bounded: Readonly<Record<string, string>> = {
  "/^[\\s\\p{P}\\p{S}\\p{Cf}]+|[\\s\\p{P}\\p{S}\\p{M}\\p{Cf}]+$/gu": "a stop phrase has 60 characters at most",
  '/"(?:[^"\\\\]|\\\\.)*"/g': "the owner's own config file",
  '/"[^"]*"|\\\\.|\\[[^\\]]*\\]|General/gi': "the formats of a sheet, in a thread of its own with a time limit",
  "/^(\\[[^\\]]+\\]|[^:\\s]+|[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:./]*)(?::(\\d{1,5}))?$/i":
    "an entry of the config of 300 characters at most",
  "/0+$/": "a number with six decimals",
  "/\\B(?=(\\d{3})+$)/g": "a number",
};

/** What to repeat so that the pattern takes more than linear time; undefined where nothing was found. */
function slowUnit({ source, flags }: FoundRegExp): string | undefined {
  const pattern = new RegExp(source, flags.includes("g") ? flags : `${flags}g`);
  const words = [...new Set(source.replace(/\\[a-zA-Z]/g, " ").match(/[\p{L}\d:<>="'@/-]{2,}/gu) ?? [])].slice(0, 4);
  const units = [...hostileUnits, ...words, ...words.map((word) => `${word} `)];
  return units.find((unit) => ["x", ...words].some((prefix) => isSlow(pattern, prefix, unit)));
}

function isSlow(pattern: RegExp, prefix: string, unit: string): boolean {
  const look = (length: number): (() => unknown) => {
    const text = `${prefix}${unit.repeat(Math.ceil(length / unit.length))}\u0001`;
    return () => text.replace(pattern, "");
  };
  const suspect = lengths.find((length) => cpuMs(look(length)) > suspectMs);
  return suspect !== undefined && isSteep(look, suspect);
}

test("regular expressions are found in code, and nothing else is taken for one", () => {
  const code = `const a = b / c / d; // /no/\nconst e = \`/\${"/x/"}/\${f(/[/"\`]\\/x+/gi)}\`; return /y/; /* /z/ */ g(h, /w/u);`;
  assert.deepEqual(
    regExpsIn(code).map(({ source, flags }) => `${source} ${flags}`),
    ['[/"`]\\/x+ gi', "y ", "w u"],
  );
});

test("a pattern that looks at each run from each of its characters is noticed", () => {
  for (const source of ["\\s+$", "(<pre>[\\s\\S]*?<\\/pre>)", "(a+)+$"])
    assert.notEqual(slowUnit({ source, flags: "", line: 1 }), undefined, source);
  for (const source of ["^\\s+", "[^@]{1,64}@"])
    assert.equal(slowUnit({ source, flags: "", line: 1 }), undefined, source);
});

test("no pattern of the gateway takes more than linear time, whatever it is given", () => {
  const root = projectFile("src");
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));
  const seen = new Map<string, FoundRegExp & { readonly path: string }>();
  for (const path of files)
    for (const one of regExpsIn(readFileSync(join(root, path), "utf8")))
      seen.set(`/${one.source}/${one.flags}`, { ...one, path });
  assert.ok(seen.size > 250, `only ${seen.size} patterns were found`);
  const slow = [...seen].flatMap(([text, one]) => {
    if (bounded[text] !== undefined) return [];
    const unit = slowUnit(one);
    return unit === undefined ? [] : [`src/${one.path}:${one.line} ${text} with ${JSON.stringify(unit)}`];
  });
  assert.deepEqual(slow, []);
  const unused = Object.keys(bounded).filter((text) => !seen.has(text));
  assert.deepEqual(unused, [], "exceptions that nobody needs");
});
