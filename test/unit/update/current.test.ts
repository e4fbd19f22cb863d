import assert from "node:assert/strict";
import { chmodSync, chownSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { chooseProgram, programIn, versionsFolder } from "../../../src/update/current.js";
import { tempFolder } from "../../support/engine/engine-kit.js";

const version = "9.9.9";

/** A home in which an update has chosen a newer version. */
function updated(home: string): { readonly program: string; readonly ways: readonly string[] } {
  const program = programIn(join(versionsFolder(home), version));
  mkdirSync(dirname(program), { recursive: true, mode: 0o755 });
  writeFileSync(program, "", { mode: 0o755 });
  symlinkSync(version, join(versionsFolder(home), "current"));
  return {
    program,
    ways: [home, versionsFolder(home), join(versionsFolder(home), version), dirname(program), program],
  };
}

test("the version of an update runs only from folders that no other account can change", (t) => {
  const home = tempFolder(t);
  const { program, ways } = updated(home);
  assert.deepEqual(chooseProgram(home, "0.1.0"), { kind: "other", program });
  for (const path of ways) {
    chmodSync(path, 0o777);
    assert.deepEqual(chooseProgram(home, "0.1.0"), { kind: "foreign", version, path });
    chmodSync(path, 0o755);
  }
  const link = join(tempFolder(t), "home");
  symlinkSync(home, link);
  const linked = programIn(join(versionsFolder(link), version));
  assert.deepEqual(chooseProgram(link, "0.1.0"), { kind: "other", program: linked }, "the home may be a link");
  const folder = dirname(dirname(program));
  rmSync(folder, { recursive: true });
  const elsewhere = tempFolder(t);
  mkdirSync(join(elsewhere, "bin"));
  writeFileSync(join(elsewhere, "bin", "maxclaw.js"), "");
  symlinkSync(elsewhere, folder);
  assert.deepEqual(chooseProgram(home, "0.1.0"), { kind: "foreign", version, path: folder });
});

test("root runs no version that another account has put into a home", {
  skip: process.getuid?.() !== 0,
}, (t) => {
  const home = tempFolder(t);
  const { ways } = updated(home);
  for (const path of ways) {
    chownSync(path, 65534, 65534);
    assert.deepEqual(chooseProgram(home, "0.1.0"), { kind: "foreign", version, path });
    chownSync(path, 0, 0);
  }
});
