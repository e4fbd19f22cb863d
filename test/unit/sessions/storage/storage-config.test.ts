import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../../../src/config/load.js";
import { ConfigError } from "../../../../src/errors.js";
import { loadDriver } from "../../../../src/sessions/storage/packages.js";
import { openStorage } from "../../../../src/wiring/core/storage.js";
import { tempFolder } from "../../../support/engine/engine-kit.js";
import { startGateway } from "../../../support/worlds/gateway.js";

async function opened(driver: string, options: Readonly<Record<string, unknown>> = {}) {
  const { storage, problem = "" } = await openStorage({ driver, options });
  await storage?.[Symbol.asyncDispose]();
  return { name: storage?.name, problem };
}

test("the files need nothing, memory and drivers of unstorage are opened by their names", async () => {
  for (const [driver, name] of [
    ["file", undefined],
    ["memory", "memory"],
    ["redis", "redis"],
    ["fs-lite", "fs-lite"],
  ] as const)
    assert.deepEqual([(await opened(driver)).name, (await opened(driver)).problem], [name, ""]);
});

test("a driver that does not exist is told with the one that was meant, and documents are files", async () => {
  for (const [driver, hint] of [
    ["reddis", 'did you mean "redis"?'],
    ["mongo-db", 'did you mean "mongodb"?'],
    ["Memory", 'did you mean "memory"?'],
    ["postgres", 'the driver "db0" with options.connector'],
    ["something", "until that is corrected"],
  ] as const) {
    const { name, problem } = await opened(driver);
    assert.equal(name, undefined);
    assert.ok(problem.includes(driver) && problem.toLowerCase().includes(hint.toLowerCase()), problem);
    assert.match(problem, /session documents are kept as files/);
  }
  assert.match((await opened("something")).problem, /^storage: there is no driver "something"\./);
});

test("a package that is missing is named with the command that installs it", async () => {
  const { name, problem } = await opened("mongodb", { connectionString: "mongodb://127.0.0.1:1" });
  assert.equal(name, undefined);
  assert.match(
    problem,
    /the driver mongodb needs the package mongodb: install it with "npm install .*unstorage@1\.17 mongodb"/,
  );
  await assert.rejects(loadDriver({ driver: "db0", options: { connector: "pglite" } }), (error) => {
    assert.ok(error instanceof ConfigError);
    assert.match(error.message, /needs the package @electric-sql\/pglite: install it with "npm install/);
    return true;
  });
});

test("SQL without a connector, or with an unknown one, names those that there are", async () => {
  for (const options of [{}, { connector: "oracle" }])
    assert.match((await opened("db0", options)).problem, /storage\.options\.connector must be one of .*postgresql/);
});

test("an option that cannot be read leads to no other storage, and passwords in addresses are masked", async (t) => {
  const home = tempFolder(t);
  const load = async (storage: unknown, env = {}) => {
    await writeFile(join(home, "config.json"), JSON.stringify({ storage }));
    return await loadConfig({ home, env });
  };
  const missing = await load({ driver: "redis", options: { url: `redis://\${REDIS_HOST}:6379` } });
  assert.deepEqual(missing.config.storage, { driver: "file", options: {} });
  assert.match(missing.problems.join(), /storage\.options\.url.*\$\{REDIS_HOST\}.*session documents are files/);
  const options = {
    url: "redis://:pass%2Fword1@127.0.0.1",
    nested: { password: "another-one", list: [1, true, null] },
  };
  const found = await load({ driver: "redis", options });
  assert.deepEqual(found.config.storage, { driver: "redis", options });
  assert.deepEqual([...found.secrets].sort(), ["another-one", "pass%2Fword1", "pass/word1"]);
});

test("a gateway with a storage that cannot be used runs on files and says why in its status", async () => {
  await using gateway = await startGateway({ config: { storage: { driver: "reddis" } } });
  const problems = (await gateway.gateway.api.status()).problems.join();
  assert.match(problems, /there is no driver "reddis"; did you mean "redis"\?/);
});
