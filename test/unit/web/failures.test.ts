import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ClientError } from "../../../src/client/client-error.js";
import { healthChecks, securityChecks } from "../../../src/doctor/all-checks.js";
import { loadOwnWords, ownWords, sentenceOf } from "../../../src/web/failures/said.js";
import { failureWords } from "../../../src/web/failures/words.js";
import { systemWords } from "../../../src/web/panes/system/words.js";
import { projectFile } from "../../support/project.js";

test("each code of a failure has words of the page in both languages, and no word is for a code that is gone", () => {
  const codes = codesInSources();
  assert.ok(codes.size > 40, `${codes.size} codes`);
  assert.deepEqual([...codes].filter((code) => !Object.hasOwn(failureWords.en, code)).sort(), []);
  assert.deepEqual(
    Object.keys(failureWords.en).filter((code) => !codes.has(code)),
    [],
  );
});

test("each check of the doctor has a name in both languages", () => {
  for (const { name } of [...healthChecks, ...securityChecks])
    assert.ok(Object.hasOwn(systemWords.en, `check_${name}`), name);
});

test("on the Chinese page the page's own words come first, then what the gateway said", async () => {
  const refused = new ClientError("refused", "There is no such chat.", "not_found");
  assert.equal(sentenceOf(refused), "There is no such chat.");
  assert.equal(ownWords("not_found"), undefined);
  await inChinese(async () => {
    assert.equal(sentenceOf(refused), "There is no such chat.", "until they are loaded");
    await loadOwnWords();
    assert.equal(sentenceOf(refused), "找不到，或已不存在。（There is no such chat.）");
    assert.equal(sentenceOf(new ClientError("lost", "gone")), "gone");
    assert.equal(sentenceOf(new ClientError("refused", "odd", "toString")), "odd");
    assert.equal(ownWords("RATE_LIMIT"), failureWords.zh.RATE_LIMIT);
  });
  assert.equal(ownWords("not_found"), undefined, "the English page has the gateway's");
});

async function inChinese(run: () => Promise<void>): Promise<void> {
  Object.assign(globalThis, { document: { documentElement: { lang: "zh" } } });
  try {
    await run();
  } finally {
    Reflect.deleteProperty(globalThis, "document");
  }
}

/** Of turns that fail, of refused commands, and of answers over HTTP. */
function codesInSources(): ReadonlySet<string> {
  const [, union = ""] =
    /export type ErrorCode =([^;]*);/.exec(readFileSync(projectFile("src/errors.ts"), "utf8")) ?? [];
  const found = new Set(quotedIn(union));
  for (const folder of [
    "src/api",
    "src/http",
    "src/agent",
    "src/inbound",
    "src/events/retries",
    "src/wiring",
    "src/skills",
  ])
    for (const file of readdirSync(projectFile(folder), { recursive: true, encoding: "utf8" })) {
      if (!file.endsWith(".ts")) continue;
      const source = readFileSync(projectFile(join(folder, file)), "utf8");
      // The codes of the system, such as ENOENT, and what zod calls its own.
      for (const [, value = ""] of source.matchAll(/\bcode: ([^,})\n]*)/g))
        for (const code of quotedIn(value.replace(/=== "\w+"/g, "")))
          if (!/^E[A-Z]+$|^custom$/.test(code)) found.add(code);
    }
  return found;
}

function quotedIn(text: string): readonly string[] {
  return [...text.matchAll(/"(\w+)"/g)].map(([, word = ""]) => word);
}
