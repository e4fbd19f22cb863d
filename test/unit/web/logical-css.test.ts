import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { projectFile } from "../../support/project.js";

const styles = projectFile("src/web/styles");

/** Sides that have a name which follows the direction of writing. */
const physical = [
  /^(?:left|right)$/,
  /^(?:margin|padding|scroll-margin|scroll-padding|border)-(?:left|right)(?:-|$)/,
  /^border-(?:top|bottom)-(?:left|right)-radius$/,
];

/** What is wrong with one declaration where writing goes from right to left. */
function problemOf(property: string, value: string): string | undefined {
  if (physical.some((pattern) => pattern.test(property))) return "has a logical name";
  if (/^(?:text-align|float|clear)$/.test(property) && /^(?:left|right)\b/.test(value)) return "takes start and end";
  if (/^(?:margin|padding|inset|border-radius|border-width)$/.test(property) && isLopsided(value))
    return "has unlike sides: give inline-start and inline-end";
  const [x = "0"] = value.split(/\s+/);
  if (property === "translate" && !/^0\w*$/.test(x) && !value.includes("var(--inline)"))
    return "moves to one side: multiply with var(--inline)";
  return undefined;
}

/** Four values of which the second and the fourth, the right and the left one, are not the same. */
function isLopsided(value: string): boolean {
  const parts = value.match(/(?:[^\s(]+\([^()]*(?:\([^()]*\)[^()]*)*\)|[^\s]+)/g) ?? [];
  return parts.length === 4 && parts[1] !== parts[3];
}

function problemsIn(css: string): readonly string[] {
  const problems: string[] = [];
  for (const [, selector = "", block = ""] of css.replace(/\/\*[\s\S]*?\*\//g, "").matchAll(/([^{}]*)\{([^{}]*)\}/g)) {
    // A column of a table that its author has put to one side stays there.
    if (selector.includes("[align=")) continue;
    for (const [, property = "", value = ""] of block.matchAll(/([\w-]+)\s*:\s*([^;]+);/g)) {
      const problem = problemOf(property, value.trim());
      if (problem !== undefined) problems.push(`${selector.trim()}: ${property}: ${value} ${problem}`);
    }
  }
  return problems;
}

describe("the styles of the page", () => {
  test("name no left and right, so that they do for writing in both directions", () => {
    const files = readdirSync(styles).filter((name) => name.endsWith(".css"));
    assert.ok(files.length > 10);
    const found = files.flatMap((name) =>
      problemsIn(readFileSync(join(styles, name), "utf8")).map((problem) => `${name}: ${problem}`),
    );
    assert.deepEqual(found, []);
  });

  test("are looked at for each way to name a side", () => {
    const bad = [
      "left: 0;",
      "margin-left: auto;",
      "border-right: 1px solid red;",
      "border-top-left-radius: 4px;",
      "text-align: right;",
      "padding: 0 4px 0 8px;",
      "inset: 8px auto auto 8px;",
      "translate: -16px 0;",
    ];
    for (const line of bad) assert.equal(problemsIn(`.a { ${line} }`).length, 1, line);
    const good =
      "inset-inline: 0; padding: 1px 2px 3px 2px; translate: 0 -200%; margin: 0 calc(1px + 2px) 3px calc(1px + 2px);";
    assert.deepEqual(problemsIn(`@media (width > 1px) { .a { ${good} } }`), []);
  });
});
