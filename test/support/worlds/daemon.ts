import { type ChildProcess, spawn } from "node:child_process";
import { programFile } from "../project.js";

/** The real program as a process of its own; killed when disposed, if it still runs. */
export interface Daemon extends AsyncDisposable {
  readonly child: ChildProcess;
  /** `http://127.0.0.1:port`. */
  readonly url: string;
  stdout(): string;
  stderr(): string;
  /** Resolves with the exit code, or the signal's name. */
  readonly exited: Promise<number | string>;
  /** Sends the signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<number | string>;
}

export interface DaemonOptions {
  readonly home: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly readyLimitMs?: number;
}

/** Starts `maxclaw gateway` on a free port and waits for its READY line. */
export async function startDaemon({
  home,
  args = [],
  env = {},
  readyLimitMs = 15_000,
}: DaemonOptions): Promise<Daemon> {
  const run = spawnMaxclaw(["gateway", "-p", "0", ...args], home, env);
  const port = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`Not ready: ${run.stdout()}\n${run.stderr()}`)), readyLimitMs);
    const look = (): void => {
      const ready = /READY:127\.0\.0\.1:(\d+)/.exec(run.stdout())?.[1];
      if (ready === undefined) return;
      clearTimeout(timer);
      resolve(ready);
    };
    run.child.stdout?.on("data", look);
    void run.exited.then((code) => reject(new Error(`Ended with ${code}: ${run.stderr()}`)));
  });
  return { ...run, url: `http://127.0.0.1:${port}` };
}

/** Runs any command of the real program. */
export function spawnMaxclaw(
  args: readonly string[],
  home: string,
  env: Readonly<Record<string, string>> = {},
): Omit<Daemon, "url"> {
  const child = spawn(process.execPath, [programFile(), ...args], {
    env: { PATH: process.env.PATH ?? "", HOME: home, MAXCLAW_HOME: home, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const exited = new Promise<number | string>((resolve) => {
    child.once("close", (code, signal) => resolve(code ?? signal ?? "unknown"));
  });
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    exited,
    async end(signal) {
      child.kill(signal);
      return await exited;
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** Runs a command to its end. */
export async function runMaxclaw(args: readonly string[], home: string, env?: Readonly<Record<string, string>>) {
  const run = spawnMaxclaw(args, home, env);
  const code = await run.exited;
  return { code, stdout: run.stdout(), stderr: run.stderr() };
}
