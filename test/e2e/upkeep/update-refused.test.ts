import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { appendFile, chown, mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { gate, until } from "../../support/engine/engine-kit.js";
import { fillUp, mountSmallDisk } from "../../support/engine/small-disk.js";
import { type ProgramRegistry, startProgramRegistry } from "../../support/fakes/program-registry.js";
import { projectFile } from "../../support/project.js";
import { withoutSmallDisk } from "../../support/worlds/needs.js";
import { openUpdateWorld, packVersion } from "../../support/worlds/update-world.js";

const packed = { sound: "" };

before(async () => {
  packed.sound = await packVersion("0.2.0");
});

after(async () => {
  await rm(dirname(packed.sound), { recursive: true, force: true });
});

const downloads: readonly (readonly [string, ProgramRegistry["fault"] | "gone", RegExp])[] = [
  ["is cut", "cut", /Nothing was changed: 0\.1\.0 is in use\./],
  ["was changed", "other-bytes", /The download is damaged.* Nothing was changed/],
  ["has no network", "gone", /could not be reached \(ECONNREFUSED\).* Nothing was changed/],
];

for (const [what, fault, sentence] of downloads)
  test(`an update whose download ${what} changes nothing and leaves nothing`, async () => {
    const registry = await startProgramRegistry();
    registry.versions = [{ version: "0.2.0", file: packed.sound }];
    await using world = await openUpdateWorld(registry.url);
    if (fault === "gone") await registry[Symbol.asyncDispose]();
    else registry.fault = fault;
    const done = await world.run(["update", "--to", "0.2.0"]);
    assert.equal(done.code, 1);
    assert.match(done.stderr, sentence);
    assert.deepEqual(await world.versions(), []);
    assert.deepEqual(await world.steps(), ["began", "failed"]);
    assert.equal((await world.run(["--version"])).stdout.trim(), "0.1.0");
    if (fault !== "gone") await registry[Symbol.asyncDispose]();
    const check = await world.run(["update", "--check"]);
    assert.equal(check.code, 3);
    assert.match(check.stderr, /^maxclaw: This could not be checked: .*registry could not be reached/m);
  });

test("a look at a registry that takes its time says whom it asks", async () => {
  const asked = gate();
  await using registry = await startProgramRegistry();
  registry.versions = [{ version: "0.2.0", file: packed.sound }];
  registry.held = asked.opened;
  await using world = await openUpdateWorld(registry.url);
  await using looking = world.spawn(["update", "--check"]);
  await until("it says so", () => looking.stderr() === "Asking the package registry …\n", 20_000);
  asked.open();
  assert.equal(await looking.exited, 1);
  assert.match(looking.stdout(), /^Newest: {2}0\.2\.0$/m);
});

test("of two updates at once the second is refused; the first can be stopped, and leaves nothing", async () => {
  await using registry = await startProgramRegistry();
  registry.versions = [{ version: "0.2.0", file: packed.sound }];
  registry.fault = "wait";
  await using world = await openUpdateWorld(registry.url);
  const downloading = registry.nextDownload();
  await using first = world.spawn(["update"]);
  await downloading;
  const second = await world.run(["update"]);
  assert.equal(second.code, 1);
  assert.match(second.stderr, /^maxclaw: Another update of \S+ is under way\. Nothing was done\./);
  assert.equal(await first.end("SIGINT"), 1);
  assert.match(first.stderr(), /The update was stopped\. Nothing was changed\./);
  assert.deepEqual(await world.versions(), []);
  registry.fault = "none";
  const third = await world.run(["update"]);
  assert.equal(third.code, 0, third.stderr);
  assert.match(
    third.stdout,
    /Updated from 0\.1\.0 to 0\.2\.0\.\nNo gateway was restarted\. The next start is 0\.2\.0\./,
  );
});

test("what was killed halfway is told and removed by the next update", async () => {
  await using registry = await startProgramRegistry();
  registry.versions = [{ version: "0.2.0", file: packed.sound }];
  registry.fault = "wait";
  await using world = await openUpdateWorld(registry.url);
  const downloading = registry.nextDownload();
  await using first = world.spawn(["update"]);
  await downloading;
  await first.end("SIGKILL");
  assert.equal((await world.versions()).length, 1);
  await appendFile(join(world.home, "updates.jsonl"), '{"at":"20');
  registry.fault = "none";
  const next = await world.run(["update"]);
  assert.match(next.stdout, /^The last update, to 0\.2\.0, was broken off after "began"\. 0\.1\.0 is in use now\./);
  assert.deepEqual(await world.versions(), ["0.2.0", "current"]);
});

test("an update that is killed after any of its steps leaves one whole version, and the next one goes well", async () => {
  await using registry = await startProgramRegistry();
  await using world = await openUpdateWorld(registry.url);
  const update = ["update", "--from", packed.sound];
  for (const step of ["began", "installed", "backed-up", "tried", "switched"]) {
    const before = (await world.steps()).length;
    await using killed = world.spawn(update);
    await until(`it has ${step}`, async () => (await world.steps()).slice(before).includes(step), 40_000);
    await killed.end("SIGKILL");
    const reached = (await world.steps()).at(-1);
    const shown = await world.run(["--version"]);
    const version = shown.stdout.trim();
    // The switch is noted after it is made.
    const mayBe = { tried: ["0.1.0", "0.2.0"], switched: ["0.2.0"], updated: ["0.2.0"] }[reached ?? ""] ?? ["0.1.0"];
    assert.ok(mayBe.includes(version) && shown.stderr === "", `killed at ${step}, it had ${reached}: ${version}`);
    assert.equal((await world.run(["sessions", "list"])).code, 0);
    // The kill may come a step later.
    if (version === "0.2.0") break;
  }
  const next = await world.run(update);
  assert.equal(next.code, 0, next.stderr);
  assert.deepEqual(await world.versions(), ["0.2.0", "current"]);
});

test("on a full or closed disk the old version stays, there is a sentence, and with room the next try goes well", {
  skip: withoutSmallDisk(),
}, async () => {
  await using registry = await startProgramRegistry();
  registry.versions = [{ version: "0.2.0", file: packed.sound }];
  using disk = mountSmallDisk("3m");
  const remount = (how: string) => execFileSync("mount", ["-o", `remount,${how}`, disk.folder]);
  await using world = await openUpdateWorld(registry.url, join(disk.folder, "home"));
  // What a version takes of the libraries above the home is found above this one as well.
  await symlink(projectFile("node_modules"), join(disk.folder, "node_modules"));
  const failing = async (sentence: RegExp): Promise<void> => {
    const done = await world.run(["update", "--to", "0.2.0"]);
    assert.equal(done.code, 1);
    assert.match(done.stderr, sentence);
    assert.doesNotMatch(done.stderr, /\n {4}at /);
    assert.deepEqual(await world.versions(), []);
    assert.equal((await world.run(["--version"])).stdout, "0.1.0\n");
  };
  await failing(/The disk is full\. .* Nothing was changed: 0\.1\.0 is in use\./);
  assert.equal((await world.run(["sessions", "list"])).code, 0);
  // Now there is room for the version, but not for the backup of what cannot be made smaller.
  remount("size=60m");
  await mkdir(join(world.home, "workspace"), { recursive: true });
  await writeFile(join(world.home, "workspace", "film"), randomBytes(30_000_000));
  fillUp(disk.folder, 20_000_000);
  await failing(/The disk is full\. Free some space .* Nothing was changed: 0\.1\.0 is in use\./);
  assert.deepEqual(await world.steps(), ["began", "failed", "began", "installed", "failed"]);
  assert.deepEqual(await readdir(join(world.home, "backups")), []);
  remount("ro");
  const closed = await world.run(["update", "--to", "0.2.0"]);
  assert.equal(closed.code, 1);
  assert.match(closed.stderr, /update\.lock cannot be used: its disk is mounted read-only\. Mount it for writing/);
  remount("rw,size=200m");
  const done = await world.run(["update", "--to", "0.2.0"]);
  assert.equal(done.code, 0, done.stderr);
  assert.deepEqual(await world.versions(), ["0.2.0", "current"]);
});

test("a file that is no package is not installed", async () => {
  await using world = await openUpdateWorld("http://127.0.0.1:9");
  const file = join(world.home, "page.tgz");
  await writeFile(file, "<html>Not found</html>");
  const done = await world.run(["update", "--from", file]);
  assert.equal(done.code, 1);
  assert.match(done.stderr, /The file is damaged, or it is not a package of npm\. .*Nothing was changed/);
  assert.deepEqual(await world.versions(), []);
});

test("a chosen version counts only where it is newer and whole", async () => {
  await using world = await openUpdateWorld("http://127.0.0.1:9");
  const versions = join(world.home, "versions");
  await mkdir(versions);
  const choose = async (version: string): Promise<void> => {
    await rm(join(versions, "current"), { force: true });
    await symlink(version, join(versions, "current"));
  };
  for (const name of ["0.0.9", "../../elsewhere", "0.1.0"]) {
    await choose(name);
    const shown = await world.run(["--version"]);
    assert.deepEqual([shown.code, shown.stdout, shown.stderr], [0, "0.1.0\n", ""], name);
  }
  await choose("0.9.0");
  const shown = await world.run(["--version"]);
  assert.deepEqual([shown.code, shown.stdout], [0, "0.1.0\n"]);
  assert.match(shown.stderr, /version 0\.9\.0 of the last update is gone; 0\.1\.0 runs/);
});

test("an update is refused in words in an image, for the home of another account, and for wrong words", async () => {
  await using world = await openUpdateWorld("http://127.0.0.1:9");
  const inImage = await world.run(["update"], { MAXCLAW_IMAGE: "1" });
  assert.match(inImage.stderr, /part of a container image\. Get a newer image/);
  for (const args of [
    ["--to", "newest"],
    ["--to", "0.2.0", "--from", "x.tgz"],
    ["--from", "nowhere.tgz"],
    ["--wait", "0"],
  ])
    assert.equal((await world.run(["update", ...args])).code, 2, args.join(" "));
  if (process.getuid?.() === 0) {
    await chown(world.home, 12_345, 12_345);
    const refused = await world.run(["update", "--to", "0.2.0"]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /belongs to another account \(uid 12345\)\. Run the update as that account/);
  }
  assert.deepEqual(await readdir(world.home), []);
});
