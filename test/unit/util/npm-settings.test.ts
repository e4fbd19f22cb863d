import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { runNpm } from "../../../src/util/npm.js";
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

test("a registry that never answers ends in a sentence that says how long npm has waited", async () => {
  const server = createServer(() => undefined).listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP server that listens has an address with a port.
  const { port } = server.address() as AddressInfo;
  const folder = mkdtempSync(join(tmpdir(), "maxclaw-mute-"));
  try {
    await assert.rejects(
      runNpm(["view", "x", "--registry", `http://127.0.0.1:${port}`, "--cache", folder], { limitMs: 1000, folder }),
      /^NpmError: npm got no full answer from the package registry within 1 second\. Look at the network, and at which registry npm uses \(npm config get registry\)\.$/,
    );
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
