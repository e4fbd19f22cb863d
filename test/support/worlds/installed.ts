import { execFile } from "node:child_process";
import { copyFile, lstat, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { type FakeRegistry, startFakeRegistry } from "../fakes/fake-registry.js";
import { projectFile } from "../project.js";

const run = promisify(execFile);

/** The packed program in a folder, as npm installs it without anything optional. */
export interface Installed extends AsyncDisposable {
  /** Holds everything below. */
  readonly folder: string;
  /** Where somebody has installed it into a project of their own. */
  readonly project: string;
  /** The package in it. */
  readonly package: string;
  /** The file that was packed. */
  readonly archive: string;
  readonly registry: FakeRegistry;
  /** What npm is run with: its own cache, no settings of this machine, the registry here. */
  readonly env: Readonly<Record<string, string>>;
}

/** Bundles and packs the program, which `npm test` has done once for all tests. Resolves with the file. */
export async function packProgram(folder: string): Promise<string> {
  const packed = process.env.MAXCLAW_TEST_PACKAGE;
  if (packed !== undefined) {
    const copy = join(folder, basename(packed));
    await copyFile(packed, copy);
    return copy;
  }
  await run(process.execPath, [projectFile("scripts/bundle.mjs")]);
  const args = ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder];
  await run("npm", args, { cwd: projectFile(".") });
  const archive = (await readdir(folder)).find((name) => name.endsWith(".tgz"));
  if (archive === undefined) throw new Error(`npm has packed nothing into ${folder}`);
  return join(folder, archive);
}

/** `more`: packages that the registry has besides what the program needs. */
export async function installProgram(more: readonly string[] = []): Promise<Installed> {
  const folder = await mkdtemp(join(tmpdir(), "maxclaw-installed-"));
  const project = join(folder, "project");
  await mkdir(project);
  const [archive, registry] = await Promise.all([packProgram(folder), startFakeRegistry(["zod", ...more])]);
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: folder,
    npm_config_registry: registry.url,
    npm_config_cache: join(folder, "cache"),
    npm_config_userconfig: join(folder, "npmrc"),
    npm_config_globalconfig: join(folder, "npmrc-global"),
  };
  await writeFile(join(project, "package.json"), JSON.stringify({ private: true }));
  await run("npm", ["install", "--no-audit", "--no-fund", "--omit=dev", "--omit=optional", archive], {
    cwd: project,
    env,
  });
  return {
    folder,
    project,
    package: join(project, "node_modules", "maxclaw"),
    archive,
    registry,
    env,
    async [Symbol.asyncDispose]() {
      await registry[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** What is on disk of an install. */
export async function sizeOfInstall(
  project: string,
): Promise<{ readonly packages: number; readonly megabytes: number }> {
  const { packages } = JSON.parse(await readFile(join(project, "package-lock.json"), "utf8"));
  const entries = await readdir(join(project, "node_modules"), { recursive: true, withFileTypes: true });
  let bytes = 0;
  for (const entry of entries) bytes += (await lstat(join(entry.parentPath, entry.name))).blocks * 512;
  return { packages: Object.keys(packages).filter((path) => path !== "").length, megabytes: bytes / 1e6 };
}
