import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import type { Zones } from "../../policy/zones.js";
import type { ToolContext } from "../tool.js";
import type { Limits } from "./limits.js";
import { type Run, sightsOf, startRun } from "./run.js";
import type { Confinement } from "./sandbox.js";
import { firstEnvironment } from "./shell.js";
import { type View, type ViewOptions, viewOf } from "./view.js";

/** At the same time, in one terminal. */
const maxBackground = 8;
/** Ended background runs whose output can still be read. */
const maxEnded = 16;
/** Nothing runs in the background for longer. */
const maxBackgroundMs = 24 * 60 * 60 * 1000;

export interface TerminalOptions {
  readonly id: string;
  readonly folder: string;
  readonly workspace: string;
  /** The gateway's own folder. */
  readonly home: string;
  /** Private to this terminal; made by it and removed when it is closed. */
  readonly temp: string;
  readonly timeZone: string;
  readonly zones: Pick<Zones, "zoneOf">;
  readonly limits: Limits;
}

export interface StartOptions {
  readonly confinement: Confinement | undefined;
  readonly network: boolean;
  readonly received: ViewOptions["received"];
  readonly mayRead: ViewOptions["mayRead"];
  readonly startRun: ToolContext["startRun"];
  /**
   * The command runs with the variables that a new terminal begins with, and leaves none behind: what earlier commands
   * exported has no part in what it does. It starts in the folder that the terminal is in, which stays.
   */
  readonly freshEnvironment?: boolean | undefined;
}

export interface Finished {
  readonly run: Run;
  readonly stopped: "timeout" | "flood" | undefined;
  /** Where the next command starts, when that has changed. */
  readonly movedTo: string | undefined;
  /** Of the workspace, left out for its size. */
  readonly tooLarge: readonly string[];
}

/**
 * The terminal of one session: a folder and an environment that stay from command to command, and the commands that run
 * in the background.
 */
export class Terminal {
  readonly id: string;
  readonly #options: TerminalOptions;
  readonly #background = new Map<string, Run>();
  readonly #running = new Set<Run>();
  readonly #closing = new AbortController();
  readonly #made: Promise<unknown>;
  #cwd: string | undefined;
  #environment = "";
  /** A command that others had a say in has left variables, a folder, or files in /tmp: all later ones may meet them. */
  #foreign: string | undefined;
  #count = 0;
  #usedAt = Date.now();

  constructor(options: TerminalOptions) {
    this.id = options.id;
    this.#options = options;
    this.#made = mkdir(path.join(options.temp, "tmp"), { recursive: true, mode: 0o700 });
    this.#made.catch(() => undefined);
  }

  /** Others have had a say in what commands find here. */
  get isForeign(): boolean {
    return this.#foreign !== undefined || [...this.#running].some(({ outside }) => outside !== undefined);
  }

  /** Where the next command starts; undefined: in the session's own folder. */
  get cwd(): string | undefined {
    return this.#cwd;
  }

  /** Unix ms; undefined while something runs. */
  get idleSince(): number | undefined {
    return this.#running.size > 0 ? undefined : this.#usedAt;
  }

  /**
   * Runs a command and waits for its end; what it leaves behind is what the next one starts from.
   *
   * @throws the signal's reason, after the command has been killed
   */
  async run(
    command: string,
    options: StartOptions & { readonly timeoutMs: number },
    signal: AbortSignal,
  ): Promise<Finished> {
    const { run, view } = await this.#start(command, { ...options, isInteractive: false }, signal);
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      run.kill();
    }, options.timeoutMs);
    const onAbort = (): void => run.kill();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const ended = await run.ended;
      const left = options.freshEnvironment === true ? undefined : ended.left;
      signal.throwIfAborted();
      const before = this.#cwd ?? view.folder;
      if (left !== undefined) {
        this.#cwd = left.cwd;
        this.#environment = left.environment;
      }
      const movedTo = left === undefined || left.cwd === before ? undefined : left.cwd;
      const stopped = run.hasFlooded ? "flood" : isLate ? "timeout" : undefined;
      return { run, stopped, movedTo, tooLarge: view.tooLarge };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Starts a command that goes on by itself. Undefined when too many do already. */
  async runInBackground(command: string, options: StartOptions, signal: AbortSignal): Promise<string | undefined> {
    const live = [...this.#background.values()].filter(({ end }) => end === undefined);
    if (live.length >= maxBackground) return undefined;
    const { run } = await this.#start(command, { ...options, isInteractive: true }, signal);
    this.#count += 1;
    const id = `bg${this.#count}`;
    this.#background.set(id, run);
    const timer = setTimeout(() => run.kill(), maxBackgroundMs).unref();
    void run.ended.then(() => {
      clearTimeout(timer);
      this.#usedAt = Date.now();
    });
    const ended = [...this.#background].filter(([, { end }]) => end !== undefined);
    for (const [old] of ended.slice(0, -maxEnded)) this.#background.delete(old);
    return id;
  }

  /** Oldest first. */
  background(): readonly (readonly [id: string, run: Run])[] {
    this.#usedAt = Date.now();
    return [...this.#background];
  }

  /** Kills what runs and resolves when it is gone. */
  async close(): Promise<void> {
    this.#closing.abort(new DOMException("The terminal was closed", "AbortError"));
    for (const run of this.#running) run.kill();
    await Promise.all([...this.#running].map((run) => run.ended));
    await this.#made.catch(() => undefined);
    // What a command has locked against us is left to the next start.
    await rm(this.#options.temp, { recursive: true, force: true }).catch(() => undefined);
  }

  async #start(
    command: string,
    {
      confinement,
      network,
      received,
      mayRead,
      startRun: label,
      isInteractive,
      freshEnvironment = false,
    }: StartOptions & { readonly isInteractive: boolean },
    signal: AbortSignal,
  ): Promise<{ readonly run: Run; readonly view: View }> {
    const { folder, workspace, home, zones, temp, timeZone, limits } = this.#options;
    this.#usedAt = Date.now();
    await this.#made;
    const view = await viewOf({ workspace, folder, home, received, mayRead }, zones);
    if (view === undefined) throw new Error("the folder of this chat is a link to somewhere else");
    this.#closing.signal.throwIfAborted();
    const sees = [...sightsOf({ confinement, network, view }), ...(this.#foreign === undefined ? [] : [this.#foreign])];
    const labelled = await label(sees);
    const run = await startRun(
      {
        command,
        label: labelled,
        cwd: this.#cwd ?? view.folder,
        environment: freshEnvironment ? "" : this.#environment,
        firstEnvironment: firstEnvironment({ home: view.folder, timeZone }),
        view,
        temp: { hidden: temp, shown: path.join(temp, "tmp") },
        confinement,
        network,
        isInteractive,
        limits,
      },
      signal,
    ).catch(async (error: unknown) => {
      await labelled.end();
      throw error;
    });
    this.#running.add(run);
    this.#foreign ??= run.outside;
    void run.ended.then(async () => {
      this.#running.delete(run);
      this.#usedAt = Date.now();
      this.#foreign ??= run.outside;
      await labelled.end();
    });
    // Aborted or closed while its pipe was being made.
    if (signal.aborted || this.#closing.signal.aborted) run.kill();
    return { run, view };
  }
}
