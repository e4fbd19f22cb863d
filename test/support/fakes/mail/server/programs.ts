import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Programs that run in a folder until they are stopped. */
export class Programs {
  readonly #folder: string;
  readonly #ids: { readonly uid?: number; readonly gid?: number };
  readonly #children: ChildProcess[] = [];
  #said = "";

  /** `ids`: as whom they run, where that is not us. */
  constructor(folder: string, ids: { readonly uid?: number; readonly gid?: number }) {
    this.#folder = folder;
    this.#ids = ids;
  }

  /** Runs it to its end. */
  run(file: string, args: readonly string[]): void {
    execFileSync(findProgram(file) ?? file, args, { cwd: this.#folder, stdio: "pipe", timeout: 30_000, ...this.#ids });
  }

  start(file: string, args: readonly string[]): void {
    const [program, all] = dyingWithUs(file, args);
    const env = { PATH: process.env.PATH ?? "", LC_ALL: "C" };
    const child = spawn(program, all, { cwd: this.#folder, stdio: ["ignore", "pipe", "pipe"], env, ...this.#ids });
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        this.#said = (this.#said + chunk.toString()).slice(-4000);
      });
    this.#children.push(child);
  }

  /** @throws when one has ended by itself */
  assertRunning(): void {
    if (this.#children.some(({ exitCode }) => exitCode !== null)) throw new Error(`a server ended:\n${this.#said}`);
  }

  async stop(): Promise<void> {
    for (const child of this.#children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = new Promise((resolve) => child.once("close", resolve));
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), 2000);
      await ended;
      clearTimeout(timer);
    }
  }
}

/** On Linux a server ends with the test that started it, however that ends. */
export function dyingWithUs(file: string, args: readonly string[]): readonly [string, readonly string[]] {
  const setpriv = findProgram("setpriv");
  return process.platform !== "linux" || setpriv === undefined
    ? [file, args]
    : [setpriv, ["--pdeathsig", "SIGKILL", file, ...args]];
}

export function findProgram(file: string): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"];
  return folders.map((folder) => join(folder, file)).find((path) => existsSync(path));
}
