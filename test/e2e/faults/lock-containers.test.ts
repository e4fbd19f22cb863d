import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { tempFolder, until } from "../../support/engine/engine-kit.js";
import { spawnMaxclaw, startDaemon } from "../../support/worlds/daemon.js";
import { type Contained, startContained } from "../../support/worlds/namespaces.js";
import { withoutSandbox } from "../../support/worlds/needs.js";

const gateway = ["gateway", "-p", "0"];

async function contained(
  t: TestContext,
  home: string,
  host: string,
  { env = {}, limitMs = 15_000 }: { readonly env?: Readonly<Record<string, string>>; readonly limitMs?: number } = {},
): Promise<Contained> {
  const run = startContained(gateway, home, { host, env });
  t.after(() => run.kill());
  const ended = run.exited.then((code) => assert.fail(`${host} ended with ${code}: ${run.stderr()}`));
  await Promise.race([ended, until(`${host} is ready`, () => run.stdout().includes("READY:"), limitMs)]);
  ended.catch(() => undefined);
  return run;
}

/** How a command ended; "runs" for a gateway that was let in. */
async function endOf(run: Pick<Contained, "exited" | "stdout">): Promise<number | string> {
  const isIn = until("it ends or runs", () => run.stdout().includes("READY:"), 25_000).then(() => "runs");
  isIn.catch(() => undefined);
  return await Promise.race([run.exited, isIn]);
}

/** What is in the journal, by file. */
function journalOf(home: string): Readonly<Record<string, string>> {
  const folder = join(home, "journal");
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "latin1")]));
}

/** The holder of the lock may have gone on writing; nobody else has. */
function assertUntouched(home: string, before: Readonly<Record<string, string>>): void {
  const after = journalOf(home);
  const writers = (journal: Readonly<Record<string, string>>): readonly string[] =>
    [...new Set(JSON.stringify(journal).match(/\bgw_[0-9a-f]+/g))].sort();
  assert.deepEqual(Object.keys(after), Object.keys(before));
  for (const [name, text] of Object.entries(before)) assert.ok(after[name]?.startsWith(text), `${name} was changed`);
  assert.deepEqual(writers(after), writers(before));
}

test("two containers, or one and its host, never use one home at the same time", {
  skip: withoutSandbox(),
}, async (t) => {
  const home = tempFolder(t);
  const first = await contained(t, home, "box-one");
  const before = journalOf(home);

  const second = startContained(gateway, home, { host: "box-two" });
  t.after(() => second.kill());
  assert.equal(await endOf(second), 1);
  assert.match(second.stderr(), /in use by another maxclaw \(in another container or machine, box-one at 127\.0\.0\.1/);

  const outside = [
    gateway,
    ["journal", "repair"],
    ["backup", join(home, "..", "never.tar.gz")],
    ["sessions", "list"],
    ["sessions", "delete", "cli:direct", "--yes"],
    ["events", "verify"],
  ];
  for (const args of outside) {
    const run = spawnMaxclaw(args, home);
    t.after(() => run.end("SIGKILL"));
    assert.equal(await endOf(run), args[0] === "events" ? 3 : 1, `${args.join(" ")} was not refused: ${run.stdout()}`);
    assert.match(run.stderr(), /box-one/, args.join(" "));
  }
  assertUntouched(home, before);

  await first.kill();
  await contained(t, home, "box-three", { limitMs: 5000 });
});

test("a gateway whose lock file is deleted or replaced stops by name and writes nothing more", async (t) => {
  for (const how of ["deleted", "replaced"] as const) {
    for (const lock of ["gateway.lock", join("workspace", ".sessions", ".lock")]) {
      const home = tempFolder(t);
      await using daemon = await startDaemon({ home });
      const before = journalOf(home);
      const path = join(home, lock);
      if (how === "replaced") writeFileSync(`${path}.other`, "{}");
      if (how === "replaced") renameSync(`${path}.other`, path);
      else rmSync(path);
      const isOver = await Promise.race([daemon.exited, until("it ends", () => false)]).catch(() => "runs");
      assert.equal(isOver, 74, `${lock} ${how}`);
      const said = daemon.stderr().match(/was deleted or replaced while this maxclaw used it/g);
      assert.equal(said?.length, 1, daemon.stderr());
      assertUntouched(home, before);
    }
  }
});

test("where the kernel holds no lock, a holder that stands still past its lease is replaced, and then writes nothing", {
  skip: withoutSandbox(),
}, async (t) => {
  const home = tempFolder(t);
  const empty = join(tempFolder(t), "bin");
  mkdirSync(empty);
  const env = { PATH: empty };
  const first = await contained(t, home, "box-one", { env });
  const tooEarly = startContained(gateway, home, { host: "box-two", env });
  t.after(() => tooEarly.kill());
  assert.equal(await endOf(tooEarly), 1);
  assert.match(tooEarly.stderr(), /in use by another maxclaw \(in another container or machine, box-one/);

  first.signal("SIGSTOP");
  await contained(t, home, "box-three", { env, limitMs: 30_000 });
  const before = journalOf(home);
  first.signal("SIGCONT");
  assert.equal(await first.exited, 74);
  assert.match(first.stderr(), /was taken by another maxclaw \(pid \d+ on box-three/);
  assertUntouched(home, before);
});
