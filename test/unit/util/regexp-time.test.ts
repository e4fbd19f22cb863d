import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { cpuMs, hostileUnits } from "../../support/hostile.js";
import { projectFile } from "../../support/project.js";
import { type FoundRegExp, regExpsIn } from "../../support/rules/regexp-literals.js";

/** Linear ones take less than a hundredth of it; those that look at a run from each of its characters, ten times as much. */
const mostMs = 20;
/** The longest is hostile enough; what is far worse than that is noticed earlier, and needs no minutes. */
const lengths = [300, 2000, 16_000];

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

interface Slow {
  readonly unit: string;
  readonly ms: number;
}

function slowest({ source, flags }: FoundRegExp): Slow {
  const pattern = new RegExp(source, flags.includes("g") ? flags : `${flags}g`);
  const words = [...new Set(source.replace(/\\[a-zA-Z]/g, " ").match(/[\p{L}\d:<>="'@/-]{2,}/gu) ?? [])].slice(0, 4);
  let worst = { unit: "", ms: 0 };
  for (const unit of [...hostileUnits, ...words, ...words.map((word) => `${word} `)])
    for (const prefix of ["x", ...words]) {
      const ms = slowestOf(pattern, prefix, unit);
      if (ms > worst.ms) worst = { unit, ms };
      if (ms > mostMs) return worst;
    }
  return worst;
}

function slowestOf(pattern: RegExp, prefix: string, unit: string): number {
  let ms = 0;
  for (const length of lengths) {
    const text = `${prefix}${unit.repeat(Math.ceil(length / unit.length))}\u0001`;
    const look = (): unknown => text.replace(pattern, "");
    ms = cpuMs(look);
    if (ms > mostMs) ms = cpuMs(look, 3);
    if (ms > mostMs) return ms;
  }
  return ms;
}

test("regular expressions are found in code, and nothing else is taken for one", () => {
  const code = `const a = b / c / d; // /no/\nconst e = \`/\${"/x/"}/\${f(/[/"\`]\\/x+/gi)}\`; return /y/; /* /z/ */ g(h, /w/u);`;
  assert.deepEqual(
    regExpsIn(code).map(({ source, flags }) => `${source} ${flags}`),
    ['[/"`]\\/x+ gi', "y ", "w u"],
  );
});

test("a pattern that looks at each run from each of its characters is noticed", () => {
  assert.ok(slowest({ source: "\\s+$", flags: "", line: 1 }).ms > mostMs);
  assert.ok(slowest({ source: "^\\s+", flags: "", line: 1 }).ms < mostMs);
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
    const { unit, ms } = slowest(one);
    return ms > mostMs
      ? [`src/${one.path}:${one.line} ${text} with ${JSON.stringify(unit)}: ${Math.round(ms)} ms`]
      : [];
  });
  assert.deepEqual(slow, []);
  const unused = Object.keys(bounded).filter((text) => !seen.has(text));
  assert.deepEqual(unused, [], "exceptions that nobody needs");
});
