import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { removeUnfinished } from "../../../src/update/install.js";

/** Fills a folder as npm does, also again after it was removed, until it is ended. */
const writing = `
const fs = require("node:fs");
let count = 0;
const write = () => {
  for (let n = 0; n < 50; n += 1) {
    const folder = process.argv[1] + "/node_modules/p" + (count % 200) + "/locales";
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(folder + "/" + count++ + ".js", "x");
  }
  if (count === 1000) process.stdout.write("begun");
  setImmediate(write);
};
write();`;

test("an update begins also while the npm of one that was killed still writes; the next one removes what is left", async () => {
  const home = mkdtempSync(join(tmpdir(), "maxclaw-leftovers-"));
  const folder = join(home, "versions", ".installing-0123456789ab");
  const npm = spawn(process.execPath, ["-e", writing, folder], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(npm, "close");
  try {
    await once(npm.stdout, "data");
    await removeUnfinished(home);
  } finally {
    npm.kill("SIGKILL");
    await ended;
  }
  await removeUnfinished(home);
  assert.deepEqual(readdirSync(join(home, "versions")), []);
});
