import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { startProgramRegistry } from "../../support/fakes/program-registry.js";
import { openUpdateWorld, packVersion } from "../../support/worlds/update-world.js";

const made = { folder: "", packed: "" };
const seen = (): string => join(made.folder, "seen.jsonl");

before(async () => {
  made.folder = await mkdtemp(join(tmpdir(), "maxclaw-trust-"));
  // A version that writes down with what it is started.
  const note = `import { appendFileSync } from "node:fs"; appendFileSync(${JSON.stringify(seen())}, JSON.stringify({ args: process.argv.slice(2), env: process.env }) + "\\n");\n`;
  made.packed = await packVersion("0.2.0", [{ file: "bin/maxclaw.js", from: /\n/, to: `\n${note}` }]);
});

after(async () => {
  await rm(dirname(made.packed), { recursive: true, force: true });
  await rm(made.folder, { recursive: true, force: true });
});

test("a version that the registry names no hash of is refused, and never started", async () => {
  await using registry = await startProgramRegistry();
  registry.versions = [{ version: "0.2.0", file: made.packed }];
  registry.hasNoHashes = true;
  await using world = await openUpdateWorld(registry.url);
  const done = await world.run(["update"]);
  assert.equal(done.code, 1);
  assert.match(
    done.stderr,
    /^maxclaw: The package registry names no hash of maxclaw, so what was downloaded cannot be checked\. .*--from.* Nothing was changed: 0\.1\.0 is in use\.$/m,
  );
  assert.deepEqual(await world.versions(), []);
  await assert.rejects(readFile(seen()), /ENOENT/);
});

test("the trial of a version gets no variables of the caller but those that it needs", async () => {
  await using registry = await startProgramRegistry();
  registry.versions = [{ version: "0.2.0", file: made.packed }];
  await using world = await openUpdateWorld(registry.url);
  await writeFile(
    join(world.home, "config.json"),
    JSON.stringify({ providers: { groq: { apiKey: ["$", "{GROQ_API_KEY}"].join("") } } }),
    { mode: 0o600 },
  );
  const secrets = { GROQ_API_KEY: "gsk_secret", AWS_SECRET_ACCESS_KEY: "secret", MAXCLAW_TOKEN: "long-enough-token" };
  const done = await world.run(["update"], { ...secrets, TZ: "Asia/Tokyo" });
  assert.equal(done.code, 0, done.stderr);
  const starts = (await readFile(seen(), "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    starts.map(({ args }) => args[0]),
    ["--version", "status", "sessions"],
  );
  for (const { env } of starts) {
    assert.deepEqual(
      Object.keys(env).filter(
        (name) => !["PATH", "HOME", "MAXCLAW_HOME", "TZ", "LANG", "LC_ALL", "TMPDIR"].includes(name),
      ),
      [],
    );
    assert.equal(env.TZ, "Asia/Tokyo");
    assert.match(env.MAXCLAW_HOME, /versions\/\.installing-[0-9a-f]+-trial$/);
  }
});

test("sentences about a registry that has no such version are whole", async () => {
  await using registry = await startProgramRegistry();
  await using world = await openUpdateWorld(registry.url);
  const check = await world.run(["update", "--check"]);
  assert.equal(check.code, 3);
  assert.match(
    check.stderr,
    /^maxclaw: This could not be checked: The package registry does not have maxclaw \(E404\)\. .*\(npm config get registry\)\.$/m,
  );
  registry.versions = [{ version: "0.2.0", file: made.packed }];
  const to = await world.run(["update", "--to", "0.9.9"]);
  assert.match(
    to.stderr,
    /^maxclaw: The package registry does not have maxclaw@0\.9\.9 \(ETARGET\)\. .*\(npm config get registry\)\. Nothing was changed: 0\.1\.0 is in use\.$/m,
  );
});
