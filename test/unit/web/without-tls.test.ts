import assert from "node:assert/strict";
import { test } from "node:test";
import { readSources } from "../../support/rules/source-code.js";

/** What a page that came over plain http from another machine does not have, and how our code may name it. */
const absent = [
  /\brandomUUID\b/,
  /\bcrypto\.subtle\b/,
  /\bnavigator\.locks\b/,
  /\bnavigator\.clipboard\.(?!writeText\(text\))/,
];

test("the page uses nothing that a browser gives only over TLS, except where it looks first", () => {
  const sources = readSources("src").filter(({ path }) => /^(?:web|client)\//.test(path));
  assert.ok(sources.length > 100);
  const found = sources.flatMap(({ path, code }) =>
    absent.filter((name) => name.test(code)).map((name) => `${path}: ${name}`),
  );
  assert.deepEqual(found, []);
});
