import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { projectFile } from "../project.js";

/** Files that the steps of an image write to, in namespaces: the rest of this machine can be read there, and not changed. */
export interface ContainerSteps extends AsyncDisposable {
  /** Runs a shell text as root, with programs such as apt-get replaced by ones that only note what they are asked for. */
  build(shell: string, env: Readonly<Record<string, string>>): Promise<readonly string[]>;
  /** Runs a shell text as a user without rights, on a root that cannot be written to. */
  start(shell: string, env: Readonly<Record<string, string>>, binds?: Readonly<Record<string, string>>): Promise<Ended>;
  /** A folder of this world. */
  readonly folder: string;
}

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const run = promisify(execFile);
const limitMs = 60_000;
/** Told instead of what changes a system, or its owners, which a single mapped account cannot. */
const noted = ["apt-get", "chown"];

export async function openContainerSteps(): Promise<ContainerSteps> {
  const folder = await mkdtemp(join(tmpdir(), "maxclaw-image-"));
  const at = (name: string): string => join(folder, name);
  await prepare(at);
  const places = placesOf(at("opt"));
  return {
    folder,
    async build(shell, env) {
      for (const name of ["stubs/noted", "bin/maxclaw"]) await rm(at(name), { force: true });
      const own = [
        "--uid",
        "0",
        "--bind",
        at("stubs"),
        "/stubs",
        "--bind",
        at("bin"),
        "/usr/local/bin",
        "--tmpfs",
        "/var",
      ];
      const variables = { PATH: "/stubs:/usr/local/bin:/usr/bin:/bin", ...env };
      const { code, stderr } = await inside([...places, ...own], variables, shell);
      if (code !== 0) throw new Error(`It ended with ${code}: ${stderr}`);
      return (await readFile(at("stubs/noted"), "utf8")).trim().split("\n");
    },
    start: (shell, env, binds = {}) =>
      inside(
        [
          ...[...places, "--uid", "1000", "--gid", "1000", "--ro-bind", at("bin"), "/usr/local/bin"],
          ...["--bind", at("data"), "/data"],
          ...Object.entries(binds).flatMap(([to, from]) => ["--bind", from, to]),
          ...["--remount-ro", "/"],
        ],
        { PATH: "/usr/local/bin:/usr/bin:/bin", ...env },
        shell,
      ),
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

async function prepare(at: (name: string) => string): Promise<void> {
  for (const name of ["bin", "data", "stubs"]) await mkdir(at(name));
  for (const name of noted) {
    await writeFile(at(`stubs/${name}`), `#!/bin/sh\necho "${name} $*" >>/stubs/noted\n`);
    await chmod(at(`stubs/${name}`), 0o755);
  }
  // What `npm install --global --prefix /opt/maxclaw` leaves there.
  await mkdir(at("opt/maxclaw/bin"), { recursive: true });
  await mkdir(at("opt/maxclaw/lib/node_modules/maxclaw"), { recursive: true });
  await symlink("../lib/node_modules/maxclaw/bin/maxclaw.js", at("opt/maxclaw/bin/maxclaw"));
}

/** An image has these folders; this machine may have other things besides them. */
function placesOf(opt: string): readonly string[] {
  const parts = ["usr", "etc", "bin", "sbin", "lib", "lib64"].flatMap((name) => [
    "--ro-bind-try",
    `/${name}`,
    `/${name}`,
  ]);
  return [
    ...["--unshare-all", "--die-with-parent", "--clearenv", ...parts],
    ...["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"],
    ...["--ro-bind", opt, "/opt", "--ro-bind", projectFile("."), "/opt/maxclaw/lib/node_modules/maxclaw"],
  ];
}

async function inside(args: readonly string[], env: Readonly<Record<string, string>>, shell: string): Promise<Ended> {
  const variables = Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]);
  try {
    const whole = [...args, ...variables, "/bin/sh", "-c", shell];
    return { code: 0, ...(await run("bwrap", whole, { timeout: limitMs, killSignal: "SIGKILL" })) };
  } catch (error) {
    if (!(error instanceof Error && "stdout" in error && "stderr" in error && "code" in error)) throw error;
    return { code: Number(error.code), stdout: String(error.stdout), stderr: String(error.stderr) };
  }
}
