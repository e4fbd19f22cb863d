import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { programFile } from "../project.js";

/** The real program in a pid namespace, and most often a network, of its own, as a container has them, on the files of this machine. */
export interface Contained extends AsyncDisposable {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Resolves with the exit code, or the signal's name. */
  readonly exited: Promise<number | string>;
  /** Sends a signal to every process in there. */
  signal(name: NodeJS.Signals): void;
  /** Kills all of it and waits for the end. */
  kill(): Promise<void>;
}

const namespaces = ["--unshare-user", "--unshare-pid", "--unshare-uts", "--die-with-parent"];
const files = ["--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc"];

/** `host` is the name that the container gives itself. With `hasNet` it is on the network of this machine. */
export function startContained(
  args: readonly string[],
  home: string,
  {
    host,
    env = {},
    hasNet = false,
  }: { readonly host: string; readonly env?: Readonly<Record<string, string>>; readonly hasNet?: boolean },
): Contained {
  const program = [process.execPath, programFile(), ...args];
  const own = [...namespaces, ...(hasNet ? [] : ["--unshare-net"]), "--hostname", host];
  const child = spawn("bwrap", [...own, ...files, ...variables(home, env), ...program], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => {
      said[name] += text;
    });
  const exited = new Promise<number | string>((resolve) => {
    child.once("close", (code, signal) => resolve(code ?? signal ?? "unknown"));
  });
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
  };
  return {
    child,
    stdout: () => said.stdout,
    stderr: () => said.stderr,
    exited,
    signal(name) {
      for (const pid of below(child.pid ?? 0)) process.kill(pid, name);
    },
    kill,
    [Symbol.asyncDispose]: kill,
  };
}

function variables(home: string, env: Readonly<Record<string, string>>): readonly string[] {
  const all = { PATH: process.env.PATH ?? "", HOME: home, MAXCLAW_HOME: home, ...env };
  return ["--clearenv", ...Object.entries(all).flatMap(([name, value]) => ["--setenv", name, value])];
}

/** The processes that a process has started, and theirs. */
function below(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...below(child)]);
}
