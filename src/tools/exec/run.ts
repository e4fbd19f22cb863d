import { type ChildProcess, execFile, spawn } from "node:child_process";
import { closeSync, constants, openSync, unlinkSync } from "node:fs";
import { rm } from "node:fs/promises";
import { Socket } from "node:net";
import path from "node:path";
import { promisify } from "node:util";
import { settledWithin, within } from "../../util/async/within.js";
import { newId } from "../../util/ids.js";
import type { ToolRun } from "../tool.js";
import { openLeash, runVariable } from "./leash.js";
import type { Limits } from "./limits.js";
import { Output } from "./output.js";
import { argsFd, type Confinement, filterFd, type Launch, type TempFolders } from "./sandbox/sandbox.js";
import { leftFd, parseLeft, shellCommand, startFd } from "./shell.js";
import type { View } from "./view/view.js";

/** Nobody reads that much: a command that goes on writing is ended. */
const maxOutputBytes = 64 * 1024 * 1024;
const maxLeftCharacters = 256 * 1024;
/** What is still in the pipe when the command has ended is there at once. */
const lastOutputMs = 1000;

export interface RunOptions {
  readonly command: string;
  readonly cwd: string;
  /** As an earlier shell has told it. */
  readonly environment: string;
  /** The variables before that. */
  readonly firstEnvironment: Readonly<Record<string, string>>;
  /** The session's own folder. */
  readonly folder: string;
  readonly temp: TempFolders;
  /** Undefined: runs with all that the gateway's user may do. */
  readonly confined: { readonly confinement: Confinement; readonly view: View } | undefined;
  readonly network: boolean;
  /** Of one file that it writes. */
  readonly maxFileBytes: number;
  /** Can be written to. */
  readonly isInteractive: boolean;
  readonly limits: Limits;
  /** What others have a say in it by; absent for what nobody else has to do with. */
  readonly label?: ToolRun | undefined;
  /** What others wrote of what it can read at this moment, where that may change while it runs. */
  readonly sights?: (() => Promise<readonly string[]>) | undefined;
}

export interface RunEnd {
  /** Undefined when it was killed. */
  readonly code: number | undefined;
  /** Folder and environment that it left behind; undefined when it was killed. */
  readonly left: { readonly cwd: string; readonly environment: string } | undefined;
}

/** One command with all that it has started. */
export interface Run {
  readonly command: string;
  readonly startedAt: number;
  readonly output: Output;
  readonly isSandboxed: boolean;
  readonly hasNetwork: boolean;
  /** What others may have had a hand in its output by; undefined when nobody could. */
  readonly outside: string | undefined;
  /** Undefined while it runs. */
  readonly end: RunEnd | undefined;
  /** Why it was ended, when that was for what it did itself. */
  readonly fault: string | undefined;
  /** Resolves when it and everything that it has started is gone. */
  readonly ended: Promise<RunEnd>;
  /** These have a say in it from now on. */
  heard(sources: readonly string[]): Promise<void>;
  /** Looks again at what it can read. To be waited for before its output is used. */
  look(): Promise<void>;
  /** Kills all of it, at once. `fault`: what it is ended for. */
  kill(fault?: string): void;
  /** False when it has ended or takes no input. */
  write(text: string): boolean;
  /** Calls back with each piece of output; returns the undo. */
  onOutput(listener: () => void): () => void;
}

/**
 * Starts a command in a process group of its own. It and its children are dead when the run has ended, when it is
 * killed, and when the gateway dies in whatever way.
 */
export async function startRun(options: RunOptions, signal: AbortSignal): Promise<Run> {
  const mark = newId("run");
  // A real pipe: what Node gives is a socket, and a socket cannot be opened again as /dev/stdout.
  const pipe = await openPipe(path.join(options.temp.hidden, mark));
  try {
    signal.throwIfAborted();
    return new LiveRun(options, mark, pipe);
  } catch (error) {
    closeSync(pipe.readFd);
    throw error;
  } finally {
    closeSync(pipe.writeFd);
  }
}

interface Pipe {
  readonly readFd: number;
  readonly writeFd: number;
}

async function openPipe(file: string): Promise<Pipe> {
  await promisify(execFile)("mkfifo", ["-m", "600", file], { cwd: "/", env: { PATH: "/usr/bin:/bin" } });
  try {
    const readFd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    return { readFd, writeFd: openSync(file, constants.O_WRONLY) };
  } finally {
    unlinkSync(file);
  }
}

class LiveRun implements Run {
  readonly command: string;
  readonly startedAt = Date.now();
  readonly output = new Output();
  readonly isSandboxed: boolean;
  readonly hasNetwork: boolean;
  readonly ended: Promise<RunEnd>;
  readonly #label: ToolRun | undefined;
  readonly #sights: RunOptions["sights"];
  #end: RunEnd | undefined;
  #isGone = false;
  #fault: string | undefined;
  readonly #child: ChildProcess;
  readonly #listeners = new Set<() => void>();

  constructor(options: RunOptions, mark: string, { readFd, writeFd }: Pipe) {
    const { command, confined, network, limits } = options;
    this.command = command;
    this.isSandboxed = confined !== undefined;
    this.hasNetwork = network || !this.isSandboxed;
    this.#label = options.label;
    this.#sights = options.sights;
    const launch = launchOf(options);
    const held = confined?.confinement.hasOwnProcesses === true ? undefined : openLeash(mark);
    const group = limits.open();
    try {
      this.#child = spawn(launch.file, launch.args, {
        cwd: "/",
        env: {
          ...options.firstEnvironment,
          ...launch.environment,
          ...(held === undefined ? {} : { [runVariable]: mark }),
        },
        detached: true,
        stdio: [options.isInteractive ? "pipe" : "ignore", writeFd, writeFd, "pipe", "pipe", "pipe", "pipe"],
      });
    } catch (error) {
      held?.release({ isOver: true });
      void group?.remove();
      throw error;
    }
    const { pid } = this.#child;
    if (pid !== undefined) {
      held?.hold(pid);
      // It waits for the rest of its input until then.
      group?.enter(pid);
    }
    const left = this.#talk(options.environment, launch);
    const read = this.#read(readFd);
    this.ended = new Promise<RunEnd>((resolve) => {
      const finish = async (code: number | undefined): Promise<void> => {
        // Its number may soon be another's.
        this.kill();
        this.#isGone = true;
        held?.release({ isOver: true });
        const [output] = await Promise.all([
          within(left, { ms: lastOutputMs }).catch(() => undefined),
          settledWithin(read.done, { ms: lastOutputMs }),
          group?.remove(),
          this.look(),
        ]);
        read.stop();
        if (launch.scratchFile !== undefined) await rm(launch.scratchFile, { force: true }).catch(() => undefined);
        this.#end = { code, left: code === undefined || output === undefined ? undefined : parseLeft(output) };
        for (const listener of this.#listeners) listener();
        resolve(this.#end);
      };
      this.#child.once("exit", (code) => void finish(code ?? undefined));
      this.#child.once("error", (error) => {
        this.output.add(Buffer.from(`The command could not be started: ${error.message}\n`));
        if (pid === undefined) void finish(126);
      });
    });
  }

  get end(): RunEnd | undefined {
    return this.#end;
  }

  get fault(): string | undefined {
    return this.#fault;
  }

  get outside(): string | undefined {
    return this.#label?.outside();
  }

  async heard(sources: readonly string[]): Promise<void> {
    await this.#label?.add(sources);
  }

  async look(): Promise<void> {
    // What cannot be looked at may be anybody's.
    const sees = await this.#sights?.().catch(() => ["files that cannot be looked at"]);
    await this.heard(sees ?? []).catch(() => undefined);
  }

  kill(fault?: string): void {
    const { pid } = this.#child;
    if (pid === undefined || this.#isGone) return;
    this.#fault ??= fault;
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // The whole group is gone.
    }
  }

  write(text: string): boolean {
    const { stdin } = this.#child;
    if (this.#end !== undefined || stdin === null || !stdin.writable) return false;
    stdin.write(text);
    return true;
  }

  onOutput(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Gives the shell what it starts from, and resolves with what it tells at its end. */
  #talk(environment: string, { moreArgs = "", filter = Buffer.alloc(0) }: Launch): Promise<string> {
    const { stdio, stdin } = this.#child;
    // All of them were asked for as pipes.
    const pipeAt = (fd: number): Socket => stdio[fd] as Socket;
    const pipes = [leftFd, startFd, argsFd, filterFd].map(pipeAt);
    for (const one of [stdin, ...pipes]) one?.on("error", () => undefined);
    pipeAt(argsFd).end(moreArgs);
    pipeAt(filterFd).end(filter);
    pipeAt(startFd).end(environment);
    let output = "";
    const left = pipeAt(leftFd).setEncoding("utf8");
    left.on("data", (text: string) => {
      if (output.length < maxLeftCharacters) output += text;
    });
    return new Promise((resolve) => left.once("close", () => resolve(output.length < maxLeftCharacters ? output : "")));
  }

  #read(fd: number): { readonly done: Promise<void>; stop(): void } {
    const source = new Socket({ fd, readable: true, writable: false });
    source.on("error", () => undefined);
    source.on("data", (chunk: Buffer) => {
      this.output.add(chunk);
      if (this.output.bytes > maxOutputBytes) this.kill("far too much output");
      for (const listener of this.#listeners) listener();
    });
    return {
      done: new Promise((resolve) => source.once("close", () => resolve())),
      stop: () => void source.destroy(),
    };
  }
}

function launchOf(options: RunOptions): Launch {
  const { command, cwd, folder, temp, confined, network, maxFileBytes } = options;
  const hasOwnProcesses = confined?.confinement.hasOwnProcesses === true;
  const shell = shellCommand({ command, cwd, home: folder, hasOwnProcesses, maxFileBytes });
  if (confined !== undefined) return confined.confinement.launch(shell, { view: confined.view, temp, network });
  const [file, ...args] = shell;
  return { file, args };
}

/** What others have a say in a command by, by what its sandbox shows it. */
export function sightsOf({ confined, network }: Pick<RunOptions, "confined" | "network">): string[] {
  if (confined === undefined) return [];
  if (network) return ["a command with network access"];
  return confined.view.showsReceived ? ["a command that could read the files sent here"] : [];
}
