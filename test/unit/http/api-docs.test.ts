import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { apiPage, apiText } from "../../../scripts/api-docs.js";
import * as main from "../../../src/index.js";

const page = readFileSync(fileURLToPath(new URL(`../../../../${apiPage}`, import.meta.url)), "utf8");

test("the API page is what the docstrings say now (node dist/scripts/api-docs.js writes it)", () => {
  assert.equal(page, apiText());
});

test("the API page shows everything that can be imported, each as one whole declaration", () => {
  for (const name of Object.keys(main)) assert.match(page, new RegExp(`^### ${name}$`, "m"));
  const blocks = page
    .split("```ts\n")
    .slice(1)
    .map((rest) => rest.slice(0, rest.indexOf("\n```")));
  assert.ok(blocks.length > 50);
  for (const block of blocks) assert.match(block, /[;}]$/, block);
});

/** What TypeScript, Node and zod bring along, and the catalogue of events, which docs/events.md shows. */
const known: ReadonlySet<string> = new Set(
  "AbortSignal AsyncDisposable AsyncIterable Error Exclude Omit Partial Pick Promise Readonly Record Uint8Array ZodType Catalogue Payload".split(
    " ",
  ),
);

test("whoever writes a part of their own finds each type that its contract names, as far as it goes", () => {
  const library = page.slice(0, page.indexOf("\n## `maxclaw/client`"));
  const blocks = new Map(
    library
      .split(/^### /m)
      .slice(1)
      .map((text) => [/^\w+/.exec(text)?.[0] ?? "", /```ts\n([\s\S]*?)\n```/.exec(text)?.[1] ?? ""]),
  );
  const contracts =
    "ExtensionFactory Channel PlatformContext Tool ToolContext Provider StorageDriver Machine Reactor ChannelError ProviderError StorageError";
  const seen = new Set<string>();
  const missing = new Set<string>();
  const look = (name: string): void => {
    if (seen.has(name) || known.has(name)) return;
    seen.add(name);
    const block = blocks.get(name);
    if (block === undefined) return void missing.add(name);
    const code = block.replace(/\/\*\*[\s\S]*?\*\//g, "").replace(/"[^"]*"/g, "");
    for (const [used] of code.matchAll(/\b[A-Z]\w+/g)) look(used);
  };
  for (const name of contracts.split(" ")) look(name);
  assert.ok(seen.size > 40);
  assert.deepEqual([...missing].sort(), []);
});
