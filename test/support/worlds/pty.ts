import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import { until } from "../engine/engine-kit.js";
import type { CliSandbox } from "./cli.js";

/** Keys as a terminal sends them. */
export const keys = { enter: "\r", down: "\u001b[B", up: "\u001b[A", left: "\u001b[D", ctrlC: "\u0003" } as const;

/** A real terminal in which a person works. */
export interface Pty extends AsyncDisposable {
  type(text: string): void;
  /** Resolves with what matched, once it is on the screen behind what was seen before. */
  see(pattern: RegExp, limitMs?: number): Promise<string>;
  /** Everything so far, as it was written, colours included. */
  readonly written: string;
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>;
}

export interface PtyOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
}

/** Runs the program of a sandbox in a pseudo-terminal, which script(1) makes. */
export function openPty(cli: CliSandbox, args: readonly string[], options: PtyOptions = {}): Pty {
  return runInPty([process.execPath, cli.program, ...args], { ...cli.env, ...options.env }, options.columns);
}

/** The same with any program. */
export function runInPty(command: readonly string[], env: Readonly<Record<string, string>>, columns = 160): Pty {
  const line = command.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(" ");
  const child = spawn("script", ["-qefc", `stty cols ${columns} rows 50; exec ${line}`, "/dev/null"], {
    env: { TERM: "xterm", ...env },
  });
  return new ScriptPty(child);
}

class ScriptPty implements Pty {
  readonly ended: Promise<number | null>;
  readonly #child: ChildProcessWithoutNullStreams;
  #written = "";
  #seen = 0;
  #isOver = false;

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    child.stdout.on("data", (chunk: Buffer) => {
      this.#written += chunk.toString("utf8");
    });
    child.stdin.on("error", () => {});
    this.ended = new Promise((resolve) => {
      child.once("close", (code) => {
        this.#isOver = true;
        resolve(code);
      });
    });
  }

  get written(): string {
    return this.#written;
  }

  type(text: string): void {
    this.#child.stdin.write(text);
  }

  async see(pattern: RegExp, limitMs = 30_000): Promise<string> {
    const unseen = (): string => stripVTControlCharacters(this.#written).slice(this.#seen);
    const find = (): RegExpExecArray | null => pattern.exec(unseen());
    await until(`${pattern} is on the screen`, () => this.#isOver || find() !== null, limitMs).catch(() => undefined);
    const found = find();
    if (found === null) throw new Error(`${pattern} is not on the screen: ${JSON.stringify(unseen())}`);
    this.#seen += found.index + found[0].length;
    return found[0];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOver) this.#child.kill("SIGKILL");
    await this.ended;
  }
}
