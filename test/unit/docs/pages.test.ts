import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { projectFile } from "../../support/project.js";

/** What the site's own build reads pages with (`site/pages.mjs`). */
interface Pages {
  anchorsOf(markdown: string): ReadonlySet<string>;
  linksOf(markdown: string): readonly string[];
  groupsOf(readme: string): readonly { readonly title: string; readonly pages: readonly { readonly file: string }[] }[];
}

const { anchorsOf, linksOf, groupsOf }: Pages = await import(pathToFileURL(projectFile("site/pages.mjs")).href);

const read = (file: string): string => readFileSync(projectFile(file), "utf8");

function pagesBelow(folder: string): readonly string[] {
  return readdirSync(projectFile(folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => join(folder, file))
    .sort();
}

const docs = pagesBelow("docs");
const pages = ["README.md", "SECURITY.md", "CHANGELOG.md", "AGENTS.md", ...docs, ...pagesBelow("examples")];

/** What is wrong with one link of a page; nothing when it leads somewhere. */
function faultOf(page: string, link: string): string | undefined {
  const [path = "", anchor] = link.split("#");
  const file = path === "" ? page : join(dirname(page), path);
  if (!existsSync(projectFile(file)) || statSync(projectFile(file)).isDirectory()) {
    return `${page} links to ${link}, but there is no file ${file}`;
  }
  if (anchor === undefined || anchorsOf(read(file)).has(anchor)) return undefined;
  return `${page} links to ${link}, but ${file} has no heading for #${anchor}`;
}

test("each link between the pages leads to a file and a heading that exist", () => {
  const links = pages.flatMap((page) => linksOf(read(page)).map((link) => [page, link] as const));
  assert.ok(links.length > 300, `${links.length} links`);
  assert.deepEqual(
    links.map(([page, link]) => faultOf(page, link)).filter((fault) => fault !== undefined),
    [],
  );
});

test("each page of docs/ is once in a group of README's list, which is the sidebar of the site", () => {
  const groups = groupsOf(read("README.md"));
  assert.deepEqual(
    groups.map(({ title }) => title),
    ["Start", "Use", "Channels", "Operate", "Build on it", "Reference"],
  );
  const listed = groups.flatMap((group) => group.pages.map(({ file }) => file)).sort();
  assert.deepEqual(
    listed,
    docs.filter((page) => !page.startsWith(join("docs", "api", sep))),
  );
});

test("links and headings are found where they count, and not in code", () => {
  const page = [
    "# One `key`",
    "## What is lost, and why",
    "## One key",
    "```md",
    "# not a heading [not a link](gone.md)",
    "```",
    "`[nor this](gone.md)` but [this](a.md#b) and [that](https://example.org)",
  ].join("\n");
  assert.deepEqual([...anchorsOf(page)], ["one-key", "what-is-lost-and-why", "one-key-1"]);
  assert.deepEqual(linksOf(page), ["a.md#b"]);
});

for (const name of ["site", "release", "test"])
  test(`${name} is a package of its own: pinned exactly, each package known by its hash, not part of the program`, () => {
    const { dependencies, devDependencies, overrides, workspaces } = JSON.parse(read(`${name}/package.json`));
    assert.equal(dependencies, undefined);
    for (const version of Object.values({ ...devDependencies, ...overrides }))
      assert.match(String(version), /^\d+\.\d+\.\d+$/);
    assert.equal(workspaces, undefined);
    const lock: { packages: Record<string, { integrity?: string }> } = JSON.parse(read(`${name}/package-lock.json`));
    const unknown = Object.entries(lock.packages).filter(
      ([path, { integrity = "" }]) => path !== "" && !integrity.startsWith("sha512-"),
    );
    assert.deepEqual(
      unknown.map(([path]) => path),
      [],
    );
    const program = JSON.parse(read("package.json"));
    assert.equal(program.workspaces, undefined);
    assert.deepEqual(
      program.files.filter((file: string) => /^(?:site|release|test)/.test(file)),
      [],
    );
  });
