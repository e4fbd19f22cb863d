import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { compiledFile } from "../../support/project.js";

const run = promisify(execFile);
const names = ["fetch-retries", "fetch-timeout", "fetch-retry-mintimeout", "fetch-retry-maxtimeout"];

/** What npm goes by when the program runs it, with these settings of a person. */
async function settings(npmrc: string, more: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const home = mkdtempSync(join(tmpdir(), "maxclaw-npmrc-"));
  writeFileSync(join(home, ".npmrc"), npmrc);
  const program = `
    const { runNpm } = await import(${JSON.stringify(compiledFile("src/util/npm.js"))});
    process.stdout.write(await runNpm(["config", "get", ...${JSON.stringify(names)}]));`;
  const env = { PATH: process.env.PATH ?? "", HOME: home, ...more };
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program], { env });
  return Object.fromEntries(
    stdout
      .trim()
      .split("\n")
      .map((line) => line.split("=")),
  );
}

test("npm has less patience than by default, but what people have set themselves stays", async () => {
  assert.deepEqual(await settings(""), {
    "fetch-retries": "2",
    "fetch-timeout": "60000",
    "fetch-retry-mintimeout": "500",
    "fetch-retry-maxtimeout": "5000",
  });
  const theirs = await settings("fetch-retries=9\n fetch-timeout = 123456\n", {
    NPM_CONFIG_FETCH_RETRY_MINTIMEOUT: "7000",
  });
  assert.deepEqual(theirs, {
    "fetch-retries": "9",
    "fetch-timeout": "123456",
    "fetch-retry-mintimeout": "7000",
    "fetch-retry-maxtimeout": "5000",
  });
});
