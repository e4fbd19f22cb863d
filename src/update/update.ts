import { join } from "node:path";
import { messageOf } from "../errors.js";
import { codeOf } from "../util/error-code.js";
import { makeFolder } from "../util/files/make-folder.js";
import { removeLeftover } from "../util/packages/remove-leftover.js";
import { readCurrent, switchTo } from "./current.js";
import { UpdateError } from "./error.js";
import { type GatewayPort, restartAs } from "./health.js";
import { noteUpdate, readBrokenOff, type UpdateEntry } from "./history.js";
import { removeOthers, removeUnfinished, type Staged, settle, stage } from "./install.js";
import type { Origin } from "./npm.js";
import { tryVersion } from "./trial.js";
import { compareVersions } from "./version-order.js";

export interface UpdateOptions {
  readonly home: string;
  readonly origin: Origin;
  /** The version that runs this. */
  readonly running: string;
  /** The version of the program that a start begins with, before it looks for a newer one in the home. */
  readonly base: string;
  readonly gateway: GatewayPort;
  readonly data: DataPort;
  /** How long a gateway may take to answer as ready. */
  readonly limitMs: number;
  /** One line for people. */
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** What is stored, as it is copied before it is touched. */
export interface DataPort {
  /** Writes a backup with everything. */
  backup(file: string): Promise<void>;
  /** Puts config, journal and conversations of a backup into a folder. */
  copyInto(folder: string, backup: string): Promise<void>;
}

export interface Updated {
  readonly from: string;
  readonly to: string;
  readonly backup: string;
  /** The gateway runs the new version; else its next start does. */
  readonly isRunning: boolean;
}

/**
 * Brings a home to another version, or leaves it with the one it has: backup, download beside the old one, trial on a copy, switch, restart,
 * and back again unless the gateway that then runs says that it is the new one and ready. Nobody else updates this home meanwhile.
 *
 * @throws {UpdateError} the old version is in use; the message says why, and what to do
 */
export async function update(options: UpdateOptions): Promise<Updated | undefined> {
  const { home, running, say } = options;
  const broken = await readBrokenOff(home);
  if (broken !== undefined) {
    await noteUpdate(home, {
      ...broken,
      at: new Date().toISOString(),
      step: "broken-off",
      note: `after "${broken.step}"`,
    });
    say(`The last update, to ${broken.to}, was broken off after "${broken.step}". ${running} is in use now.`);
  }
  await removeUnfinished(home);
  return await new Attempt(options).run();
}

class Attempt {
  readonly #options: UpdateOptions;
  #to: string;

  constructor(options: UpdateOptions) {
    this.#options = options;
    this.#to = "version" in options.origin ? options.origin.version : options.origin.file;
  }

  async run(): Promise<Updated | undefined> {
    const { home, origin, running, say, signal } = this.#options;
    try {
      await this.#note("began");
      say("Downloading …");
      const staged = await stage(home, origin, signal);
      this.#to = staged.version;
      try {
        if (!this.#isWanted()) {
          await this.#note("failed", "it is in use already");
          return undefined;
        }
        await this.#note("installed");
        const backup = await this.#backUp();
        await this.#tryOnCopy(staged, backup);
        return await this.#change(staged, backup);
      } finally {
        await removeLeftover(staged.folder);
      }
    } catch (error) {
      if (error instanceof TakenBack) throw new UpdateError(error.message);
      await this.#note("failed", messageOf(error)).catch(() => {});
      if (signal.aborted) throw error;
      throw new UpdateError(`${inWords(error)} Nothing was changed: ${running} is in use.`, { cause: error });
    }
  }

  /** @throws {UpdateError} where a start would not choose it */
  #isWanted(): boolean {
    const { running, base } = this.#options;
    if (this.#to === running) return false;
    if (compareVersions(this.#to, base) >= 0) return true;
    throw new UpdateError(
      `${this.#to} is older than the installed program (${base}). To go back so far, install it with npm: docs/upgrade.md says how.`,
    );
  }

  async #backUp(): Promise<string> {
    const { home, data, say, running } = this.#options;
    const folder = join(home, "backups");
    await makeFolder(folder);
    const file = join(
      folder,
      `before-${this.#to}-from-${running}-${new Date().toISOString().replaceAll(/[:.]/g, "-")}.tar.gz`,
    );
    say(`Backing up to ${file}`);
    await data.backup(file);
    await this.#note("backed-up", file);
    return file;
  }

  async #tryOnCopy(staged: Staged, backup: string): Promise<void> {
    const { data, say, signal } = this.#options;
    say(`Trying ${staged.version} on a copy …`);
    const copy = `${staged.folder}-trial`;
    try {
      await data.copyInto(copy, backup);
      await tryVersion(staged, copy, signal);
    } finally {
      await removeLeftover(copy);
    }
    await this.#note("tried");
  }

  /** Is not broken off halfway: the old version would be gone, and the new one not judged. */
  async #change(staged: Staged, backup: string): Promise<Updated> {
    const { home, base, running: from, gateway, limitMs, say } = this.#options;
    const before = readCurrent(home);
    const { version: to } = staged;
    const isToRestart = gateway.restart !== undefined && (await gateway.look().catch(() => undefined)) !== undefined;
    try {
      if (to !== base) await settle(home, staged);
      await switchTo(home, to === base ? undefined : to);
    } catch (error) {
      await removeOthers(home, [before]);
      throw error;
    }
    await this.#noteSoftly("switched", backup);
    if (isToRestart) {
      say(`Starting the gateway as ${to} …`);
      const why = await restartAs(to, gateway, { limitMs, signal: unbroken });
      if (why !== undefined) await this.#takeBack(before, why, backup);
    }
    await this.#noteSoftly("updated", isToRestart ? backup : "no gateway was restarted");
    await removeOthers(home, [to, before]).catch((error) =>
      say(`An old version could not be removed: ${messageOf(error)}`),
    );
    return { from, to, backup, isRunning: isToRestart };
  }

  /** @throws {TakenBack} always */
  async #takeBack(before: string | undefined, why: string, backup: string): Promise<never> {
    const { home, running, gateway, limitMs, say } = this.#options;
    say(`${this.#to} did not come up: ${why}. Going back to ${running} …`);
    await switchTo(home, before);
    const whyNot = await restartAs(running, gateway, { limitMs, signal: unbroken });
    const said = `The gateway did not come up as ${this.#to}: ${why}. `;
    const now =
      whyNot === undefined
        ? `It runs as ${running} again.`
        : `${running} was put back, but did not come up either: ${whyNot}. Look at: maxclaw doctor. If it says that files are of a newer version: maxclaw restore ${backup} --force`;
    await this.#noteSoftly("taken-back", `${said}${now}`);
    await removeOthers(home, [before]).catch((error) => say(`${this.#to} could not be removed: ${messageOf(error)}`));
    throw new TakenBack(`${said}${now}`);
  }

  /** Where the disk is full by now, what was done counts all the same. */
  async #noteSoftly(step: UpdateEntry["step"], note: string): Promise<void> {
    await this.#note(step, note).catch((error) =>
      this.#options.say(`updates.jsonl was not written: ${messageOf(error)}`),
    );
  }

  async #note(step: UpdateEntry["step"], note?: string): Promise<void> {
    const { home, running } = this.#options;
    const line = { at: new Date().toISOString(), step, from: running, to: this.#to };
    await noteUpdate(home, note === undefined ? line : { ...line, note });
  }
}

function inWords(error: unknown): string {
  const code = codeOf(error) ?? (error instanceof Error ? codeOf(error.cause) : undefined);
  const isFull = code === "ENOSPC" || code === "EDQUOT";
  if (isFull) return "The disk is full. Free some space and run the command again.";
  const said = messageOf(error);
  return /[.!?]$/.test(said) ? said : `${said}.`;
}

class TakenBack extends Error {}

/** For what has to come to its end. */
const unbroken = new AbortController().signal;
