import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../engine/engine-kit.js";

/** A systemd of its own, as each account that is logged in has one, on a /run that nobody else sees. */
export interface UserSystemd extends AsyncDisposable {
  /** For everything that is to find it. `HOME` is a folder of its own. */
  readonly env: Readonly<Record<string, string>>;
  readonly folder: string;
  /** What `systemctl --user` with these arguments prints. @throws when it fails */
  control(...args: readonly string[]): string;
}

const program = ["/usr/lib/systemd/systemd", "/lib/systemd/systemd"].find((path) => existsSync(path));

/** For a test's `skip`. */
export function withoutUserSystemd(): string | false {
  if (program === undefined) return "needs systemd";
  try {
    execFileSync("unshare", ["--mount", "mount", "-t", "tmpfs", "tmpfs", "/run"], { stdio: "pipe" });
    return false;
  } catch {
    return "needs the right to mount, as root on Linux has it";
  }
}

/** It takes a machine that systemd has not started for one without systemd: therefore a /run that says otherwise. */
export async function startUserSystemd(): Promise<UserSystemd> {
  const folder = await mkdtemp(join(tmpdir(), "maxclaw-systemd-"));
  const runtime = join(folder, "run");
  for (const path of [runtime, join(folder, "config")]) await mkdir(path, { mode: 0o700 });
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: folder,
    XDG_RUNTIME_DIR: runtime,
    XDG_CONFIG_HOME: join(folder, "config"),
    NO_COLOR: "1",
  };
  const script = `mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system && exec ${program} --user --log-target=console`;
  const child = spawn("unshare", ["--mount", "sh", "-c", script], { env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const control = (...args: readonly string[]): string =>
    execFileSync("systemctl", ["--user", ...args], { env, encoding: "utf8", stdio: "pipe" });
  const isUp = (): boolean => {
    if (child.exitCode !== null) throw new Error(`systemd ended with ${child.exitCode}: ${said}`);
    try {
      return control("show", "--property=SystemState").includes("running");
    } catch {
      return false;
    }
  };
  await until("systemd of the user runs", isUp, 20_000);
  return {
    env,
    folder,
    control,
    async [Symbol.asyncDispose]() {
      // It stops its services, and ends.
      child.kill("SIGTERM");
      const giveUp = setTimeout(() => child.kill("SIGKILL"), 30_000);
      await exited;
      clearTimeout(giveUp);
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}
