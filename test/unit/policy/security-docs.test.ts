import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { projectFile } from "../../support/project.js";

const pages = ["docs/security.md", "docs/security-asvs.md"] as const;
const read = (name: string): string => readFileSync(projectFile(name), "utf8");

interface Named {
  readonly file: string;
  readonly test: string;
}

/** `unit/x.test.ts`: "name", and further names of the same file behind it, each in quotes. */
function testsIn(text: string): readonly Named[] {
  return [...text.matchAll(/`((?:unit|e2e|contracts|attack)\/[\w./-]+\.ts)`((?:[:,] "[^"]+")+)/g)].flatMap(
    ([, file = "", names = ""]) => [...names.matchAll(/"([^"]+)"/g)].map(([, name = ""]) => ({ file, test: name })),
  );
}

function testsOf(file: string): ReadonlySet<string> {
  const source = existsSync(projectFile(`test/${file}`)) ? read(`test/${file}`) : "";
  const calls = source.matchAll(/\b(?:\w*[tT]est|it|describe)(?:\.\w+)?\(\s*(["'`])((?:\\.|(?!\1)[^\\])*)\1/g);
  return new Set([...calls].map(([, , name = ""]) => name.replaceAll(/\\(.)/g, "$1")));
}

/** Rows of tables, without their heads. */
function rowsOf(text: string): readonly string[] {
  const isRule = (line: string | undefined): boolean => /^\|[ -]+-[ |-]*$/.test(line ?? "");
  return text.split("\n").filter((line, at, all) => line.startsWith("| ") && !isRule(line) && !isRule(all[at + 1]));
}

/** From the heading to the next one of its rank or above. */
function sectionOf(text: string, heading: string): string {
  const from = text.indexOf(`\n${heading}\n`);
  assert.notEqual(from, -1, heading);
  const rank = heading.indexOf(" ");
  const rest = text.slice(from + heading.length + 1);
  const end = rest.search(new RegExp(`\n#{1,${rank}} `));
  return end === -1 ? rest : rest.slice(0, end);
}

for (const page of pages) {
  test(`each test that ${page} names is there under that name`, () => {
    const known = new Map<string, ReadonlySet<string>>();
    const missing = testsIn(read(page)).filter(({ file, test: name }) => {
      const names = known.get(file) ?? testsOf(file);
      known.set(file, names);
      return !names.has(name);
    });
    assert.deepEqual(missing, []);
    assert.ok(known.size > 10, "the page names tests of many files");
  });

  test(`each file that ${page} names in quotes is followed by a test's name`, () => {
    const files = read(page).match(/`(?:unit|e2e|contracts|attack)\/[\w./-]+\.ts`(?![:,] ")/g);
    assert.deepEqual(files ?? [], []);
  });
}

test("each thing that somebody cannot do has a test, and so has each class of holes", () => {
  const page = read("docs/security.md");
  const actors = ["owner", "guest", "stranger", "group", "mail", "web page", "another web site", "MCP server", "model"];
  const more = ["local user", "neighbour in the network", "extension", "skill"];
  for (const actor of [...actors, ...more]) {
    const rows = rowsOf(sectionOf(page, `### ${actor[0]?.toUpperCase()}${actor.slice(1)}`));
    assert.ok(rows.length > 0, actor);
    for (const row of rows) assert.ok(testsIn(row).length > 0, `${actor}: ${row}`);
  }
  const classes = rowsOf(sectionOf(page, "## Thirteen classes of holes"));
  assert.equal(classes.length, 13);
  for (const row of classes) assert.ok(testsIn(row).length > 0, row);
});

test("each requirement of the list is met with a test, or says why it needs none", () => {
  const rows = rowsOf(read("docs/security-asvs.md"));
  assert.ok(rows.length > 50);
  for (const row of rows) {
    const [, number = "", , state = ""] = row.split("|").map((cell) => cell.trim());
    assert.match(number, /^\d+\.\d+\.\d+$/, row);
    assert.match(state, /^(met|not met|in part|does not apply)\b/, row);
    if (state.startsWith("met")) assert.ok(testsIn(row).length > 0 || /nothing to run/.test(row), row);
  }
  const numbers = rows.map((row) => row.split("|")[1]?.trim());
  assert.equal(new Set(numbers).size, numbers.length, "each is there once");
});

test("the table of the attack sweep has its place, and the pages lead to one another", () => {
  const page = read("docs/security.md");
  const [begin, end] = ["<!-- attack:begin -->", "<!-- attack:end -->"].map((mark) => page.indexOf(mark));
  assert.ok(begin !== undefined && end !== undefined && begin !== -1 && begin < end);
  assert.match(page, /\(security-asvs\.md\)/);
  assert.match(page, /\(\.\.\/SECURITY\.md\)/);
  for (const [file, link] of [
    ["README.md", "docs/security.md"],
    ["README.md", "SECURITY.md"],
    ["README.md", "docs/security-asvs.md"],
    ["SECURITY.md", "docs/security.md"],
  ] as const)
    assert.ok(read(file).includes(`(${link})`), `${file} → ${link}`);
  const { files }: { readonly files: readonly string[] } = JSON.parse(read("package.json"));
  assert.ok(files.includes("SECURITY.md"), "the package tells how to report");
});
