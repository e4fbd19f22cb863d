import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, link, mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { startProgramRegistry } from "../../support/fakes/program-registry.js";
import { programFile } from "../../support/project.js";

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A Node of its own in a folder that is not in the PATH, with the npm beside it that a test puts there. */
interface Machine extends AsyncDisposable {
  readonly npm: string;
  readonly home: string;
  run(args: readonly string[], env?: Readonly<Record<string, string>>, cwd?: string): Promise<Ran>;
}

async function openMachine(): Promise<Machine> {
  const folder = await mkdtemp(join(tmpdir(), "maxclaw-machine-"));
  const node = join(folder, "node");
  // Another file system takes no hard link.
  await link(process.execPath, node).catch(() => copyFile(process.execPath, node));
  const home = join(folder, "home");
  const empty = join(folder, "empty");
  for (const name of [home, empty]) await mkdir(name, { mode: 0o700 });
  return {
    npm: join(folder, "npm"),
    home,
    run: (args, more = {}, cwd = empty) => {
      const env = { PATH: empty, HOME: home, MAXCLAW_HOME: home, npm_config_fetch_retries: "0", ...more };
      return new Promise((resolve) => {
        execFile(node, [programFile(), ...args], { env, cwd }, (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
        );
      });
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/** What is said where a look takes its time. */
const slow = "Asking the package registry …\n";

/** The npm that the tests themselves are run with. */
async function realNpm(): Promise<string> {
  const places = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, "npm"));
  return await realpath(places.find((place) => existsSync(place)) ?? "npm");
}

const left = async (machine: Machine, folder: string): Promise<readonly string[]> =>
  await readdir(join(machine.home, folder)).catch(() => []);

test("without npm nothing is installed or changed, and each command says what is missing", async () => {
  await using machine = await openMachine();
  const sentence = /npm, which downloads packages, was not found\..* Install npm, which belongs to Node\.js\./;
  for (const [args, code] of [
    [["add", "browser"], 1],
    [["update", "--to", "9.0.0"], 1],
    [["update"], 1],
    [["update", "--check"], 3],
  ] as const) {
    const ran = await machine.run(args);
    assert.equal(ran.code, code, args.join(" "));
    assert.match(ran.stderr, sentence);
    assert.doesNotMatch(ran.stderr, /\n {4}at /);
  }
  assert.deepEqual([await left(machine, "packages"), await left(machine, "versions")], [[], []]);
});

test("the npm beside this Node runs with this Node, also where the PATH has neither", async () => {
  await using machine = await openMachine();
  await using registry = await startProgramRegistry();
  const packed = join(machine.home, "packed.tgz");
  await writeFile(packed, "only its version is asked for");
  registry.versions = [{ version: "9.0.0", file: packed }];
  await symlink(await realNpm(), machine.npm);
  const ran = await machine.run(["update", "--check"], { npm_config_registry: registry.url });
  assert.deepEqual([ran.code, ran.stderr.replace(slow, "")], [1, ""]);
  assert.match(ran.stdout, /9\.0\.0/);
});

test("a look for a newer version asks the registry of the account, not the one that the current folder names", async () => {
  await using machine = await openMachine();
  await using registry = await startProgramRegistry();
  const packed = join(machine.home, "packed.tgz");
  await writeFile(packed, "only its version is asked for");
  registry.versions = [{ version: "9.0.0", file: packed }];
  await symlink(await realNpm(), machine.npm);
  await writeFile(join(machine.home, ".npmrc"), `registry=${registry.url}\n`);
  const folder = join(machine.home, "of-others");
  await mkdir(folder);
  await writeFile(join(folder, ".npmrc"), `registry=http://127.0.0.1:9/$\{SECRET}/\n`);
  const ran = await machine.run(["update", "--check"], { SECRET: "sk-secret" }, folder);
  assert.deepEqual([ran.code, ran.stderr.replace(slow, "")], [1, ""]);
  assert.match(ran.stdout, /9\.0\.0/);
});

/** What npm 11 has written, shortened, and how it ended. */
const words: readonly (readonly [string, string, number, RegExp])[] = [
  [
    "a cache that belongs to somebody else",
    "npm error code EACCES\nnpm error syscall mkdir\nnpm error path /srv/cache/_cacache\nnpm error errno EACCES\nnpm error\nnpm error Your cache folder contains root-owned files, due to a bug in previous versions of npm.\nnpm error   sudo chown -R 1:1 /srv/cache\nnpm error Log files were not written due to an error writing to the directory: /srv/cache/_logs\nnpm error You can rerun the command with `--loglevel=verbose` to see the logs in your terminal",
    1,
    /: npm cannot write \/srv\/cache\/_cacache \(EACCES\)\. Nothing was changed\. Let this account write there\. If it is in npm's cache, name another folder for that: npm_config_cache=<folder>\n$/,
  ],
  [
    "an archive that is none",
    "npm error code TAR_BAD_ARCHIVE\nnpm error TAR_BAD_ARCHIVE: Unrecognized archive format",
    1,
    /: The file is damaged, or it is not a package of npm\. Nothing was changed\./,
  ],
  [
    "something new",
    "npm error Exit handler never called!\nnpm error Log files were not written due to an error\nnpm error A complete log of this run can be found in: /x",
    7,
    /: npm ended with 7\. It says: Exit handler never called! Nothing was changed\.\n$/,
  ],
  [
    "help behind the reason",
    "npm error code EUSAGE\nnpm error\nnpm error Missing: x1@0.0.0 from lock file\nnpm error\nnpm error Clean install a project\nnpm error\nnpm error Usage:\nnpm error npm ci\nnpm error\nnpm error Options:\nnpm error [--omit <dev>]",
    1,
    /npm ended with 1\. It says: code EUSAGE Missing: x1@0\.0\.0 from lock file Nothing was changed/,
  ],
];

test("what npm says becomes a sentence: what happened, and what to do", async () => {
  await using machine = await openMachine();
  for (const [what, said, code, sentence] of words) {
    await writeFile(machine.npm, `#!/bin/sh\ncat >&2 <<'SAID'\n${said}\nSAID\nexit ${code}\n`, { mode: 0o755 });
    const ran = await machine.run(["add", "browser"], { PATH: "/usr/bin:/bin" });
    assert.equal(ran.code, 1);
    assert.match(ran.stderr, sentence, what);
    assert.deepEqual(await left(machine, "packages"), []);
  }
});
