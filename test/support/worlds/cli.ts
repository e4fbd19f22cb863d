import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { compiledFile, compiledProgram, programFile, projectFile } from "../project.js";

/** A home of its own and the real program, until disposed. */
export interface CliSandbox extends AsyncDisposable {
  readonly home: string;
  /** What is started, as the arguments of Node, and the variables that it sees. */
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  /** Runs a command to its end, 20 s at most. */
  run(args: readonly string[], options?: RunOptions): Promise<CliResult>;
  /** Starts a command that goes on. It is killed when the sandbox is disposed. */
  start(args: readonly string[], options?: RunOptions): ChildProcessWithoutNullStreams;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

export interface CliResult {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `isCompiled`: the compiled program, also where a bundle of it is named. */
export async function openCli({ isCompiled = false } = {}): Promise<CliSandbox> {
  const folder = await mkdtemp(join(tmpdir(), "maxclaw-cli-"));
  const home = join(folder, "home");
  const program = await installBin(folder, isCompiled);
  const children = new Set<ChildProcessWithoutNullStreams>();

  const inherited = { PATH: process.env.PATH ?? "", HOME: folder, NO_COLOR: "1", MAXCLAW_HOME: home };
  const start = (args: readonly string[], { env = {} }: RunOptions = {}): ChildProcessWithoutNullStreams => {
    const child = spawn(process.execPath, [program, ...args], { env: { ...inherited, ...env } });
    children.add(child);
    child.once("close", () => children.delete(child));
    return child;
  };
  return {
    home,
    program,
    env: inherited,
    start,
    run: (args, options = {}) => finish(start(args, options), options.stdin),
    async [Symbol.asyncDispose]() {
      await Promise.all([...children].map((child) => ended(child)));
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** Resolves with what a started command has written once `pattern` is in it. */
export async function outputOf(stream: NodeJS.ReadableStream, pattern: RegExp, timeoutMs = 15_000): Promise<string> {
  let text = "";
  return await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`No ${pattern} within ${timeoutMs} ms in:\n${text}`)), timeoutMs);
    stream.on("data", (chunk: Buffer) => {
      text += chunk.toString("utf8");
      if (!pattern.test(text)) return;
      clearTimeout(timer);
      resolve(text);
    });
    stream.once("end", () => {
      clearTimeout(timer);
      reject(new Error(`The command ended without ${pattern}:\n${text}`));
    });
  });
}

/** Resolves with the exit code and everything that was written since. */
export async function finish(child: ChildProcessWithoutNullStreams, stdin = "", limitMs = 20_000): Promise<CliResult> {
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString("utf8");
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString("utf8");
  });
  child.stdin.on("error", () => {});
  child.stdin.end(stdin);
  const timer = setTimeout(() => child.kill("SIGKILL"), limitMs);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  clearTimeout(timer);
  return { code, stdout, stderr };
}

async function ended(child: ChildProcessWithoutNullStreams): Promise<void> {
  const closed = new Promise((resolve) => child.once("close", resolve));
  child.kill("SIGKILL");
  await closed;
}

/** The program that was named, or the real bin/maxclaw.js on the build that the tests belong to. */
async function installBin(folder: string, isCompiled: boolean): Promise<string> {
  if (process.env.MAXCLAW_TEST_PROGRAM !== undefined && !isCompiled) return programFile();
  const text = await readFile(projectFile(compiledProgram), "utf8");
  const built = pathToFileURL(compiledFile("")).href;
  const path = join(folder, "maxclaw.mjs");
  const moved = text
    .replace("../dist/", built.endsWith("/") ? built : `${built}/`)
    .replace("./small-heap.js", pathToFileURL(projectFile("bin/small-heap.js")).href);
  await writeFile(path, moved);
  await chmod(path, 0o755);
  return path;
}
