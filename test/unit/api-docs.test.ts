import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { apiPage, apiText } from "../../scripts/api-docs.js";
import * as main from "../../src/index.js";

const page = readFileSync(fileURLToPath(new URL(`../../../${apiPage}`, import.meta.url)), "utf8");

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
