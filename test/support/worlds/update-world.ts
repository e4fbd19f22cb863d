import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { z } from "zod";
import { programFile, projectFile } from "../project.js";
import { runMaxclaw, spawnMaxclaw } from "./daemon.js";

const run = promisify(execFile);

/** A change to a version: to one file, or to the one script of the folder, that holds what is replaced. */
export interface Change {
  readonly file: string;
  readonly from: string | RegExp;
  readonly to: string;
}

/** Where the bundle has the program. */
export const programFolder = "dist/bundle/program";

/** Packs the bundle as another version, as `npm pack` does. Resolves with the file. */
export async function packVersion(version: string, changes: readonly Change[] = []): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "maxclaw-pack-"));
  const staging = join(folder, "package");
  await mkdir(staging);
  const isPacked = (path: string): boolean => !path.endsWith(".map");
  for (const part of ["bin", "dist/bundle", "dist/web", "skills", "config.example.json"])
    await cp(projectFile(part), join(staging, part), { recursive: true, filter: isPacked });
  const { type, bin, engines } = JSON.parse(await readFile(projectFile("package.json"), "utf8"));
  // Its libraries are found above the home: see `openUpdateWorld`.
  await writeFile(join(staging, "package.json"), JSON.stringify({ name: "maxclaw", version, type, bin, engines }));
  for (const change of changes) await makeChange(staging, change);
  const file = join(folder, `maxclaw-${version}.tgz`);
  await run("tar", ["-cf", join(folder, "package.tar"), "-C", folder, "package"]);
  await writeFile(file, gzipSync(await readFile(join(folder, "package.tar")), { level: 1 }));
  await Promise.all([staging, join(folder, "package.tar")].map((path) => rm(path, { recursive: true })));
  return file;
}

async function makeChange(staging: string, { file, from, to }: Change): Promise<void> {
  const path = join(staging, file);
  const scripts = file === programFolder ? (await readdir(path)).map((name) => join(path, name)) : [path];
  const texts = await Promise.all(scripts.map(async (script) => ({ script, text: await readFile(script, "utf8") })));
  const [found, ...others] = texts.filter(({ text }) => text.replace(from, to) !== text);
  if (found === undefined || others.length > 0) throw new Error(`${others.length + 1} files in ${file} hold ${from}`);
  await writeFile(found.script, found.text.replace(from, to));
}

/** A home, and a gateway that something other than the test keeps running. */
export interface UpdateWorld extends AsyncDisposable {
  readonly home: string;
  /** The command that ends the gateway and starts it again, as a service manager does; also for its first start. */
  readonly restart: string;
  run(args: readonly string[], env?: Readonly<Record<string, string>>): ReturnType<typeof runMaxclaw>;
  spawn(args: readonly string[]): ReturnType<typeof spawnMaxclaw>;
  /** What the running gateway says about itself. */
  status(): Promise<{ readonly running: boolean; readonly version?: string; readonly pid?: number }>;
  /** The steps of all updates so far. */
  steps(): Promise<readonly string[]>;
  /** What is in `versions`. */
  versions(): Promise<readonly string[]>;
}

const lockOf = z.object({ address: z.string() });
const statusOf = z.object({ version: z.string(), pid: z.number() });

export async function openUpdateWorld(registry: string, home?: string): Promise<UpdateWorld> {
  const folder = await mkdtemp(join(tmpdir(), "maxclaw-update-"));
  await symlink(projectFile("node_modules"), join(folder, "node_modules"));
  const at = home ?? join(folder, "home");
  await mkdir(at, { recursive: true, mode: 0o700 });
  const pidFile = join(folder, "pid");
  const restart = join(folder, "restart.sh");
  await writeFile(restart, restartScript(at, pidFile, join(folder, "gateway.out")), { mode: 0o700 });
  const env = {
    npm_config_registry: registry,
    npm_config_cache: join(folder, "cache"),
    npm_config_userconfig: join(folder, "npmrc"),
    npm_config_fetch_retries: "0",
  };
  const world: UpdateWorld = {
    home: at,
    restart,
    run: (args, more = {}) => runMaxclaw(args, at, { ...env, ...more }),
    spawn: (args) => spawnMaxclaw(args, at, env),
    async status() {
      try {
        const { address } = lockOf.parse(JSON.parse(await readFile(join(at, "gateway.lock"), "utf8")));
        const answer = await fetch(`http://${address}/api/status`);
        return { running: true, ...statusOf.parse(await answer.json()) };
      } catch {
        return { running: false };
      }
    },
    async steps() {
      const text = await readFile(join(at, "updates.jsonl"), "utf8").catch(() => "");
      return text
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => String(JSON.parse(line).step));
    },
    versions: async () => (await readdir(join(at, "versions")).catch(() => [])).sort(),
    async [Symbol.asyncDispose]() {
      const pid = Number(await readFile(pidFile, "utf8").catch(() => "0"));
      if (pid > 0) await run("/bin/sh", ["-c", `kill -9 ${pid}`]).catch(() => {});
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  return world;
}

/** Stops the gateway that the file of pids names, and starts one that outlives this script. */
function restartScript(home: string, pidFile: string, output: string): string {
  return `#!/bin/sh
if [ -s '${pidFile}' ]; then
  pid=$(cat '${pidFile}')
  kill -TERM "$pid" 2>/dev/null
  while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
fi
HOME='${home}' MAXCLAW_HOME='${home}' setsid '${process.execPath}' '${programFile()}' gateway -p 0 --grace 1 >>'${output}' 2>&1 </dev/null &
echo $! >'${pidFile}'
`;
}
