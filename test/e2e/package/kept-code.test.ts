import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { until } from "../../support/engine/engine-kit.js";
import { projectFile } from "../../support/project.js";
import { finish } from "../../support/worlds/cli.js";

const run = promisify(execFile);

/** Runs in each process before the program: writes at its end which scripts V8 compiled, and which of them it had kept. */
const spy = `import vm from "node:vm"; import fs from "node:fs"; import { syncBuiltinESMExports } from "node:module";
const { Script } = vm; const seen = [];
vm.Script = class extends Script {
  constructor(source, options) { super(source, options); seen.push(this.cachedDataRejected === false); }
};
syncBuiltinESMExports();
process.on("exit", () => fs.writeFileSync(process.env.SEEN, JSON.stringify(seen)));`;

describe("compiled code of the bundle", { timeout: 240_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "maxclaw-kept-"));
  const seen = join(folder, "seen.json");
  const home = join(folder, "home");
  const file = join(home, "cache/code/program.bin");

  before(async () => {
    await run(process.execPath, [projectFile("scripts/bundle.mjs")]);
    mkdirSync(home, { mode: 0o700 });
    writeFileSync(join(home, "config.json"), "{}", { mode: 0o600 });
    await runGateway();
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  function start(args: readonly string[], flags: readonly string[] = []) {
    const env = { PATH: process.env.PATH ?? "", HOME: folder, MAXCLAW_HOME: home, SEEN: seen };
    const all = ["--import", `data:text/javascript,${encodeURIComponent(spy)}`, ...flags];
    return spawn(process.execPath, [...all, projectFile("scripts/bench/bundled.mjs"), ...args], { env });
  }

  /** Of all scripts that a process has loaded, the share that was not compiled again. */
  function shareKept(): number {
    const scripts: readonly boolean[] = JSON.parse(readFileSync(seen, "utf8"));
    assert.ok(scripts.length > 2, `${scripts.length} scripts`);
    return scripts.filter(Boolean).length / scripts.length;
  }

  async function ofCommand(flags: readonly string[] = []): Promise<number> {
    const { code, stdout } = await finish(start(["--version"], flags));
    assert.deepEqual([code, stdout], [0, "0.1.0\n"]);
    return shareKept();
  }

  /** Runs a gateway until it has left its code. Resolves with the share of its scripts that it had found. */
  async function runGateway(): Promise<number> {
    const old = existsSync(file) ? lstatSync(file).ino : undefined;
    const child = start(["gateway", "-p", "0"]);
    const ended = finish(child);
    try {
      await until("the code is kept", () => existsSync(file) && lstatSync(file).ino !== old, 30_000);
    } finally {
      child.kill("SIGTERM");
      assert.equal((await ended).code, 0);
    }
    return shareKept();
  }

  it("is left by a gateway, for this account alone", () => {
    assert.equal(lstatSync(file).mode & 0o777, 0o600);
    assert.equal(lstatSync(join(home, "cache/code")).mode & 0o777, 0o700);
    assert.deepEqual(readdirSync(join(home, "cache/code")), ["program.bin"]);
  });

  it("is all that later starts run, and stays as it is", async () => {
    assert.equal(await ofCommand(), 1);
    const { ino } = lstatSync(file);
    const child = start(["gateway", "-p", "0"]);
    const ended = finish(child);
    await new Promise<void>((resolve) =>
      child.stdout.on("data", (text) => String(text).includes("READY") && resolve()),
    );
    child.kill("SIGTERM");
    assert.equal((await ended).code, 0);
    assert.equal(shareKept(), 1);
    assert.equal(lstatSync(file).ino, ino);
  });

  it("is not used under other flags of V8", async () => {
    assert.equal(await ofCommand(["--no-opt"]), 0);
    assert.equal(await ofCommand(), 1);
  });

  const sound = (): Buffer => readFileSync(file);
  const damages: readonly (readonly [what: string, damage: (bytes: Buffer) => Buffer])[] = [
    ["has a flipped bit in each kilobyte", flipped],
    ["is cut", (bytes) => bytes.subarray(0, bytes.indexOf("\n\n") + 100)],
    ["is empty", () => Buffer.alloc(0)],
    ["is something else", () => Buffer.from("console.log('hello')\n\n".repeat(1000))],
    ["is of another version of the program", (bytes) => replaced(bytes, /^(\S+\.cjs) \d+ /gm, "$1 1 ")],
    ["is of another format", (bytes) => replaced(bytes, /^maxclaw code 1/, "maxclaw code 2")],
  ];
  for (const [what, damage] of damages)
    it(`is made again where the file ${what}`, async () => {
      writeFileSync(file, damage(sound()));
      assert.equal(await ofCommand(), 0);
      assert.ok((await runGateway()) < 0.2);
      assert.equal(await ofCommand(), 1);
    });

  const byOthers: readonly (readonly [what: string, change: () => void, back: () => void])[] = [
    ["the file", () => chmodSync(file, 0o620), () => chmodSync(file, 0o600)],
    ["its folder", () => chmodSync(join(home, "cache/code"), 0o777), () => chmodSync(join(home, "cache/code"), 0o700)],
    ["the folder above", () => chmodSync(join(home, "cache"), 0o770), () => chmodSync(join(home, "cache"), 0o700)],
    ["the home", () => chmodSync(home, 0o777), () => chmodSync(home, 0o700)],
  ];
  for (const [what, change, back] of byOthers)
    it(`is not used where another account can write in ${what}`, async () => {
      change();
      try {
        assert.equal(await ofCommand(), 0);
      } finally {
        back();
      }
      assert.equal(await ofCommand(), 1);
    });

  it("is not used where the file is a link, or belongs to another account", {
    skip: process.getuid?.() !== 0 && "only root can give a file away",
  }, async () => {
    const other = join(folder, "program.bin");
    renameSync(file, other);
    symlinkSync(other, file);
    assert.equal(await ofCommand(), 0);
    renameSync(other, file);
    assert.equal(await ofCommand(), 1);
    chownSync(file, 12345, 0);
    assert.equal(await ofCommand(), 0);
    assert.ok((await runGateway()) < 0.2, "a gateway puts its own in the place");
    assert.equal(lstatSync(file).uid, 0);
    assert.equal(await ofCommand(), 1);
  });

  it("is used through a link to the home", async () => {
    const real = join(folder, "real-home");
    renameSync(home, real);
    symlinkSync(real, home);
    assert.equal(await ofCommand(), 1);
    rmSync(home);
    renameSync(real, home);
  });
});

/** Behind the lines at the beginning. */
function flipped(bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes);
  for (let at = bytes.indexOf("\n\n") + 500; at < bytes.length; at += 1024)
    changed.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  return changed;
}

function replaced(bytes: Buffer, what: RegExp, by: string): Buffer {
  const end = bytes.indexOf("\n\n");
  return Buffer.concat([
    Buffer.from(bytes.toString("latin1", 0, end).replace(what, by), "latin1"),
    bytes.subarray(end),
  ]);
}
