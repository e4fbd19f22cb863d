import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { InOrder } from "../../util/async/in-order.js";
import { newId } from "../../util/ids.js";
import { removeTemp, Terminal, type TerminalOptions } from "./terminal.js";
import { Surveyor } from "./view/survey.js";

export interface TerminalChange {
  readonly sessionKey: string;
  readonly id: string;
  readonly from: "ready" | "stopped";
  readonly to: "ready" | "stopped";
  readonly detail: string;
}

export interface TerminalsOptions extends Omit<TerminalOptions, "id" | "folder" | "temp" | "limits" | "surveyor"> {
  readonly limits: () => TerminalOptions["limits"];
  /** Holds a folder for each terminal. Nobody else may use it: what is there from an earlier process is removed. */
  readonly tempRoot: string;
  readonly idleMs: number;
  readonly onChange: (change: TerminalChange) => void;
}

/** One terminal for each session, which no other session gets to see. */
export class Terminals implements AsyncDisposable {
  readonly #options: TerminalsOptions;
  readonly #open = new Map<string, Terminal>();
  /** What is in the workspace is the same for all of them; what each may see of it is asked again. */
  readonly #surveyor = new Surveyor();
  /** What an earlier process has left, until it is being removed. */
  #left: Promise<string[]> | undefined;
  readonly #sweeping = new InOrder();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: TerminalsOptions) {
    this.#options = options;
  }

  get zones(): TerminalOptions["zones"] {
    return this.#options.zones;
  }

  find(sessionKey: string): Terminal | undefined {
    return this.#open.get(sessionKey);
  }

  /** The session's terminal, which is opened when it has none; its first command begins in `cwd`. */
  async of(sessionKey: string, folder: string, cwd?: string): Promise<Terminal> {
    const { tempRoot, idleMs, onChange, limits, ...options } = this.#options;
    this.#left ??= namesIn(tempRoot);
    for (const name of (await this.#left).splice(0)) this.#sweep(path.join(tempRoot, name));
    const known = this.#open.get(sessionKey);
    if (known !== undefined) return known;
    const id = newId("term");
    const temp = path.join(tempRoot, createHash("sha256").update(id).digest("hex").slice(0, 16));
    const terminal = new Terminal({ ...options, surveyor: this.#surveyor, limits: limits(), id, folder, temp, cwd });
    this.#open.set(sessionKey, terminal);
    this.#timer ??= setInterval(() => void this.#closeIdle(), Math.max(10, idleMs / 30)).unref();
    onChange({ sessionKey, id, from: "stopped", to: "ready", detail: "opened for a command" });
    return terminal;
  }

  /** Ends the session's terminal and everything that runs in it. `isReported`: the session has a log to write it into. */
  async close(sessionKey: string, why: string, { isReported = true } = {}): Promise<void> {
    const terminal = this.#open.get(sessionKey);
    if (terminal === undefined) return;
    this.#open.delete(sessionKey);
    await terminal.close();
    if (isReported) this.#options.onChange({ sessionKey, id: terminal.id, from: "ready", to: "stopped", detail: why });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([...this.#open.keys()].map((key) => this.close(key, "the gateway stops")));
    await this.#sweeping.settled();
  }

  /** Nobody waits for it. */
  #sweep(folder: string): void {
    this.#sweeping.run(() => removeTemp(folder)).catch(() => undefined);
  }

  async #closeIdle(): Promise<void> {
    const before = Date.now() - this.#options.idleMs;
    for (const [key, { idleSince }] of this.#open)
      if (idleSince !== undefined && idleSince < before) await this.close(key, "nobody used it");
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return await readdir(folder).catch(() => []);
}
