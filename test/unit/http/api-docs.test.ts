import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { apiFolder, apiPage, apiPages } from "../../../scripts/api-docs.js";
import * as main from "../../../src/index.js";
import { projectFile } from "../../support/project.js";

const read = (page: string): string => readFileSync(projectFile(page), "utf8");

/** The pages of single types of one entry, by name. */
function typePages(entry: string): ReadonlyMap<string, string> {
  const folder = join(apiFolder, entry);
  return new Map(readdirSync(projectFile(folder)).map((file) => [file.replace(/\.md$/, ""), read(join(folder, file))]));
}

const codeOf = (page: string): string | undefined => /```ts\n([\s\S]*?)\n```/.exec(page)?.[1];

test("the API pages are what the docstrings say now (node dist/scripts/api-docs.js writes them)", () => {
  const made = apiPages();
  for (const [page, text] of made) assert.equal(read(page), text, page);
  const files = readdirSync(projectFile(apiFolder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => join(apiFolder, file));
  assert.deepEqual(
    files.filter((file) => !made.has(file)),
    [],
    "pages of types that are gone",
  );
});

test("the API has a page for everything that can be imported, each with one whole declaration", () => {
  const pages = typePages("maxclaw");
  for (const name of Object.keys(main)) assert.match(pages.get(name) ?? "", new RegExp(`^# ${name}$`, "m"));
  const blocks = [...pages.values(), ...typePages("client").values()].map((page) => codeOf(page) ?? "");
  assert.ok(blocks.length > 50);
  for (const block of blocks) assert.match(block, /[;}]$/, block);
  const list = read(apiPage);
  for (const name of pages.keys()) assert.ok(list.includes(`- [${name}](api/maxclaw/${name}.md)`), name);
});

/** What TypeScript, Node and zod bring along, and the catalogue of events, which docs/events.md shows. */
const known: ReadonlySet<string> = new Set(
  "AbortSignal AsyncDisposable AsyncIterable Disposable Error Exclude IncomingMessage Omit Partial Pick Promise Readonly Record ServerResponse Uint8Array ZodType Catalogue Payload".split(
    " ",
  ),
);

test("anyone who writes a part of their own finds each type that its contract names, as far as it goes", () => {
  const pages = typePages("maxclaw");
  const contracts =
    "ExtensionFactory Channel PlatformContext Tool ToolContext Provider StorageDriver Machine Reactor ChannelError ProviderError StorageError";
  const seen = new Set<string>();
  const missing = new Set<string>();
  const look = (name: string): void => {
    if (seen.has(name) || known.has(name)) return;
    seen.add(name);
    const block = codeOf(pages.get(name) ?? "");
    if (block === undefined) return void missing.add(name);
    const code = block.replace(/\/\*\*[\s\S]*?\*\//g, "").replace(/"[^"]*"/g, "");
    for (const [used] of code.matchAll(/\b[A-Z]\w+/g)) look(used);
  };
  for (const name of contracts.split(" ")) look(name);
  assert.ok(seen.size > 40);
  assert.deepEqual([...missing].sort(), []);
});
