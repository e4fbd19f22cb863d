import { mkdir, realpath } from "node:fs/promises";
import path from "node:path";
import { isInside } from "../../policy/locations/paths.js";
import type { Zones } from "../../policy/locations/zones.js";
import { removeFolder } from "../../util/files/held-folder.js";
import { makeFolder } from "../../util/files/make-folder.js";
import type { ToolContext } from "../tool.js";
import type { Limits } from "./limits.js";
import { Quota, type QuotaLimits, type QuotaStart } from "./quota.js";
import { type Run, sightsOf, startRun } from "./run.js";
import { RunOrigins } from "./run-origins.js";
import type { Confinement, TempFolders } from "./sandbox/sandbox.js";
import { firstEnvironment } from "./shell.js";
import type { Surveyor } from "./view/survey.js";
import { makeOwnFolder, type ViewOptions } from "./view/view.js";
import { type HeldView, Views } from "./view/views.js";

/** At the same time, in one terminal. */
const maxBackground = 8;
/** Ended background runs whose output can still be read. */
const maxEnded = 16;
/** Nothing runs in the background for longer. */
const maxBackgroundMs = 24 * 60 * 60 * 1000;

/** Of one file, outside of the sandbox. */
const maxFileBytes = 8 * 1024 ** 3;

export interface TerminalOptions {
  readonly id: string;
  readonly folder: string;
  /** Where the first command begins; counts only in the workspace. Default: `folder`. */
  readonly cwd?: string | undefined;
  readonly workspace: string;
  /** The gateway's own folder. */
  readonly home: string;
  /** Private to this terminal; made by it and removed when it is closed. */
  readonly temp: string;
  readonly timeZone: string;
  readonly zones: Pick<Zones, "zoneOf" | "outsideOf">;
  readonly surveyor: Surveyor;
  readonly limits: Limits;
  readonly quota: QuotaLimits;
  /** A command that goes on sees what has come to the workspace after so long, once that was judged. */
  readonly refreshMs: number;
}

export interface StartOptions {
  readonly confinement: Confinement | undefined;
  readonly network: boolean;
  readonly received: ViewOptions["received"];
  readonly isOwnUpload: ViewOptions["isOwnUpload"];
  readonly mayRead: ViewOptions["mayRead"];
  readonly startRun: ToolContext["commands"]["startRun"];
  /** Of a command without a sandbox that nobody was asked about: what others wrote of what it can read. */
  readonly sights?: (() => Promise<readonly string[]>) | undefined;
  /**
   * The command runs with the variables that a new terminal begins with, and leaves none behind: what earlier commands
   * exported has no part in what it does. It starts in the folder that the terminal is in, which stays.
   */
  readonly freshEnvironment?: boolean | undefined;
}

export interface Finished {
  readonly ok: true;
  readonly run: Run;
  /** It was ended at its time limit. */
  readonly isLate: boolean;
  /** Where the next command starts, when that has changed. */
  readonly movedTo: string | undefined;
  /** Of the workspace, because there is too much of it. */
  readonly leftOut: readonly string[];
  /** What is wrong with the session's folder, where it held too much before the command. */
  readonly excess: string | undefined;
}

/** No command was started. */
export interface Refused {
  readonly ok: false;
  /** For the model. */
  readonly sentence: string;
}

interface Started {
  readonly ok: true;
  readonly run: Run;
  readonly cwd: string;
  readonly leftOut: readonly string[];
  readonly quota: QuotaStart;
}

/**
 * The terminal of one session: a folder and an environment that stay from command to command, and the commands that run
 * in the background.
 */
export class Terminal {
  readonly id: string;
  readonly #options: TerminalOptions;
  readonly #temp: TempFolders;
  readonly #views: Views;
  readonly #quota: Quota;
  readonly #background = new Map<string, Run>();
  readonly #running = new Set<Run>();
  readonly #watches = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  readonly #made: Promise<unknown>;
  #cwd: string | undefined;
  #environment = "";
  /** A command that others had a say in has left variables, a folder, or files in /tmp: all later ones may meet them. */
  #foreign: string | undefined;
  #count = 0;
  #usedAt = Date.now();
  /** Calls that have it in hand, of which some wait for a person. */
  #users = 0;

  constructor(options: TerminalOptions) {
    const { temp, folder, zones, surveyor, quota, refreshMs, cwd, workspace } = options;
    this.id = options.id;
    this.#options = options;
    this.#temp = { hidden: temp, shown: path.join(temp, "tmp"), memory: path.join(temp, "shm") };
    this.#views = new Views({ zones, surveyor, folder: temp, refreshMs });
    this.#quota = new Quota([folder, this.#temp.shown, this.#temp.memory], quota);
    if (cwd !== undefined && isInside(workspace, path.resolve(workspace, cwd)))
      this.#cwd = path.resolve(workspace, cwd);
    this.#made = makeFolders(this.#temp);
    this.#made.catch(() => undefined);
  }

  /** Others have had a say in what commands find here. */
  get isForeign(): boolean {
    return this.#foreign !== undefined || [...this.#running].some(({ origins }) => origins.outside !== undefined);
  }

  /** Where the next command starts; undefined: in the session's own folder. */
  get cwd(): string | undefined {
    return this.#cwd;
  }

  /** Unix ms; undefined while something runs or somebody uses it. */
  get idleSince(): number | undefined {
    return this.#running.size > 0 || this.#users > 0 ? undefined : this.#usedAt;
  }

  /** Until it is disposed the terminal does not count as unused, also while nothing runs yet. */
  use(): Disposable {
    this.#users += 1;
    return {
      [Symbol.dispose]: () => {
        this.#users -= 1;
        this.#usedAt = Date.now();
      },
    };
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
  ): Promise<Finished | Refused> {
    const started = await this.#start(command, { ...options, isInteractive: false }, signal);
    if (!started.ok) return started;
    const { run, cwd, leftOut, quota } = started;
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      run.kill();
    }, options.timeoutMs);
    const onAbort = (): void => run.kill();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const { left } = await run.ended;
      signal.throwIfAborted();
      const kept = options.freshEnvironment === true ? undefined : left;
      if (kept !== undefined) {
        this.#cwd = kept.cwd;
        this.#environment = kept.environment;
      }
      const movedTo = kept === undefined || kept.cwd === cwd ? undefined : kept.cwd;
      return { ok: true, run, isLate, movedTo, leftOut, excess: quota.excess };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Starts a command that goes on by itself. */
  async runInBackground(
    command: string,
    options: StartOptions,
    signal: AbortSignal,
  ): Promise<{ readonly ok: true; readonly id: string } | Refused> {
    const live = [...this.#background.values()].filter(({ end }) => end === undefined);
    if (live.length >= maxBackground)
      return { ok: false, sentence: "Too much runs in the background already. End something with process kill." };
    const started = await this.#start(command, { ...options, isInteractive: true }, signal);
    if (!started.ok) return started;
    const { run } = started;
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
    return { ok: true, id };
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
    await Promise.allSettled([this.#made, ...this.#watches]);
    await this.#views.close();
    await removeTemp(this.#options.temp).catch(() => undefined);
  }

  async #start(
    command: string,
    options: StartOptions & { readonly isInteractive: boolean },
    signal: AbortSignal,
  ): Promise<Started | Refused> {
    const { folder: chatFolder, zones } = this.#options;
    this.#usedAt = Date.now();
    await this.#made;
    const folder = await makeOwnFolder(chatFolder, zones);
    if (folder === undefined) throw new Error("the folder of this chat is a link to somewhere else");
    const quota = await this.#quota.start();
    if (typeof quota === "string") return { ok: false, sentence: quota };
    const held = await this.#hold(options);
    const cwd = this.#cwd ?? folder;
    try {
      this.#closing.signal.throwIfAborted();
      const run = await this.#launch(command, { ...options, folder, cwd, held, quota }, signal);
      this.#attend(run, held, quota);
      // Aborted or closed while its pipe was being made.
      if (signal.aborted || this.#closing.signal.aborted) run.kill();
      return { ok: true, run, cwd, leftOut: held?.leftOut ?? [], quota };
    } catch (error) {
      held?.release();
      throw error;
    }
  }

  async #hold({ confinement, received, isOwnUpload, mayRead }: StartOptions): Promise<HeldView | undefined> {
    if (confinement === undefined) return undefined;
    const { folder, workspace, home } = this.#options;
    const held = await this.#views.hold(
      { workspace, folder, home, received, isOwnUpload, mayRead },
      confinement.hasMounts,
    );
    if (held === undefined) throw new Error("the folder of this chat is a link to somewhere else");
    return held;
  }

  async #launch(
    command: string,
    {
      confinement,
      network,
      startRun: label,
      sights,
      freshEnvironment = false,
      isInteractive,
      folder,
      cwd,
      held,
      quota,
    }: StartOptions & {
      readonly isInteractive: boolean;
      readonly folder: string;
      readonly cwd: string;
      readonly held: HeldView | undefined;
      readonly quota: QuotaStart;
    },
    signal: AbortSignal,
  ): Promise<Run> {
    const { timeZone, limits } = this.#options;
    const confined = confinement === undefined || held === undefined ? undefined : { confinement, view: held.view };
    const bare = (await sights?.()) ?? [];
    const sees = [...sightsOf({ confined, network }), ...bare, ...(this.#foreign === undefined ? [] : [this.#foreign])];
    const labelled = await label(sees);
    const run = await startRun(
      {
        command,
        origins: new RunOrigins(labelled, sights),
        cwd,
        environment: freshEnvironment ? "" : this.#environment,
        firstEnvironment: firstEnvironment({ home: folder, timeZone }),
        folder,
        temp: this.#temp,
        confined,
        network,
        // Outside of the sandbox a person has allowed it as it is, and it may write elsewhere.
        maxFileBytes: confined === undefined ? maxFileBytes : quota.maxFileBytes,
        isInteractive,
        limits,
      },
      signal,
    ).catch(async (error: unknown) => {
      await labelled.end();
      throw error;
    });
    this.#foreign ??= run.origins.outside;
    void run.ended.then(async () => {
      this.#foreign ??= run.origins.outside;
      await labelled.end();
    });
    return run;
  }

  /** Looks after a command as long as it runs. */
  #attend(run: Run, held: HeldView | undefined, quota: QuotaStart): void {
    const over = new AbortController();
    this.#running.add(run);
    const watch = this.#quota
      .watch(
        quota,
        {
          onExcess: (why) => run.kill(why),
          // What could not be brought up to date goes with its command.
          onLook: async () => await held?.refresh().catch(() => undefined),
        },
        over.signal,
      )
      .catch(() => undefined)
      .finally(() => this.#watches.delete(watch));
    this.#watches.add(watch);
    void run.ended.then(() => {
      over.abort();
      held?.release();
      this.#running.delete(run);
      this.#usedAt = Date.now();
    });
  }
}

/** Whatever commands have made of it, and locked in it. */
export async function removeTemp(folder: string): Promise<void> {
  const parent = await realpath(path.dirname(folder));
  await removeFolder(path.join(parent, path.basename(folder)));
}

async function makeFolders({ hidden, shown, memory }: TempFolders): Promise<void> {
  await makeFolder(hidden);
  for (const folder of [shown, memory]) await mkdir(folder, { mode: 0o700 });
}
