import { messageOf } from "../../errors.js";
import type { Logger } from "../../log.js";
import { InOrder } from "../../util/async/in-order.js";
import { problemSentence } from "../../util/words/problem-sentences.js";
import { faultSentence } from "../faults/fault.js";
import type { LoadedConfig } from "../load.js";
import type { Config } from "../schema.js";
import { findingIn } from "../settle.js";
import { differences, type SettingPath, withPlaces } from "./differences.js";

/** A part of the gateway that goes on with other settings. */
export interface SettingOwner {
  /** Sections with all that is in them, e.g. `providers` or `tools.exec.timeout`. */
  readonly sections: readonly string[];
  /** Called with the whole config once any of it has changed. What it throws leaves its settings as they were. */
  apply(next: Config): void | Promise<void>;
}

/** What the file says and the gateway does not do yet. */
export interface ConfigState {
  /** The file that is in force; absent where there is none. */
  readonly path?: string | undefined;
  /** Settings that count from the next start on, by name. */
  readonly restart: readonly string[];
  /** Why the file is not used, as a sentence. */
  readonly problem?: string | undefined;
}

export interface LiveConfigOptions {
  /** What the gateway was opened with. */
  readonly opened: LoadedConfig;
  /** The file as it is now; undefined where the config does not come from a file. */
  readonly load?: (() => Promise<LoadedConfig>) | undefined;
  readonly log: Logger;
}

/** The config of the gateway that runs. The parts that own a section take it over; a broken file changes nothing. */
export class LiveConfig {
  readonly #load: LiveConfigOptions["load"];
  readonly #log: Logger;
  readonly #owners: SettingOwner[] = [];
  readonly #inOrder = new InOrder();
  readonly #followers: ((names: readonly string[]) => void)[] = [];
  #secrets: readonly string[];
  #loaded: LoadedConfig;
  #running: Config;
  #state: ConfigState;

  constructor({ opened, load, log }: LiveConfigOptions) {
    this.#load = load;
    this.#log = log;
    this.#loaded = opened;
    this.#secrets = opened.secrets;
    this.#running = opened.config;
    this.#state = { path: opened.path, restart: [] };
  }

  /** What the gateway does. */
  get running(): Config {
    return this.#running;
  }

  /** All that it has been since the start: what was one stays one. The same list until there are more. */
  get secrets(): readonly string[] {
    return this.#secrets;
  }

  get state(): ConfigState {
    return this.#state;
  }

  /** What is wrong in the file that is in force, and what it says that is not done yet. */
  problems(): readonly string[] {
    const { problem, restart } = this.#state;
    const due = restart.length === 0 ? [] : [problemSentence("restart", { keys: restart.join(", ") })];
    return [...this.#loaded.problems, ...(problem === undefined ? [] : [problem]), ...due];
  }

  own(owner: SettingOwner): void {
    this.#owners.push(owner);
  }

  /** Calls back with the names of settings that are in force now, or wait for a restart, and when the file cannot be used or can again. */
  follow(follower: (names: readonly string[]) => void): void {
    this.#followers.push(follower);
  }

  /** Whether a key that changes in the file counts without a restart. */
  takes(path: SettingPath): boolean {
    return this.#owners.some((owner) => isOwned(owner, path));
  }

  /** Reads the file again, and takes over what can be. Never rejects. */
  look(): Promise<ConfigState> {
    return this.#inOrder.run(async () => {
      const before = this.#state;
      const running = this.#running;
      this.#state = await this.#next();
      this.#tell(before);
      this.#callFollowers(running, before);
      return this.#state;
    });
  }

  async #next(): Promise<ConfigState> {
    if (this.#load === undefined) return this.#state;
    const { path } = this.#loaded;
    const { restart } = this.#state;
    try {
      const loaded = await this.#load();
      // Nothing has worked before that could go on: it counts as at a start.
      if (this.#loaded.unparsable !== undefined && loaded.unparsable !== undefined) return this.#stillUnusable(loaded);
      const why = this.#loaded.unparsable === undefined ? whyNot(loaded, this.#loaded) : undefined;
      if (why !== undefined) return { path, restart, problem: problemSentence("unused", { reason: why }) };
      this.#hide(loaded.secrets);
      const failed = await this.#take(loaded.config);
      this.#loaded = loaded;
      const left = [...differences(this.#running, loaded.config)].map((place) => place.join(".")).sort();
      return { path: loaded.path, restart: left, ...(failed === undefined ? {} : { problem: failed }) };
    } catch (error) {
      return { path, restart, problem: problemSentence("unused", { reason: messageOf(error) }) };
    }
  }

  #stillUnusable(loaded: LoadedConfig): ConfigState {
    const known = new Set(this.#loaded.problems);
    for (const problem of loaded.problems) if (!known.has(problem)) this.#log.warn(problem);
    this.#loaded = loaded;
    return { path: loaded.path, restart: this.#state.restart };
  }

  #hide(secrets: readonly string[]): void {
    const more = secrets.filter((secret) => !this.#secrets.includes(secret));
    if (more.length === 0) return;
    this.#secrets = [...this.#secrets, ...more];
    this.#log.hide?.(more);
  }

  /** Resolves with what did not work. */
  async #take(next: Config): Promise<string | undefined> {
    const changed = [...differences(this.#running, next)];
    const failures: string[] = [];
    const target = withPlaces(
      this.#running,
      next,
      changed.filter((place) => this.#owners.some((owner) => isOwned(owner, place))),
    );
    const taken = new Set<SettingPath>();
    const failed = new Set<SettingPath>();
    for (const owner of this.#owners) {
      const own = changed.filter((place) => isOwned(owner, place));
      if (own.length === 0) continue;
      try {
        await owner.apply(target);
        for (const place of own) taken.add(place);
      } catch (error) {
        for (const place of own) failed.add(place);
        failures.push(`${own.map((place) => place.join(".")).join(", ")} cannot be applied: ${messageOf(error)}`);
      }
    }
    const inForce = [...taken].filter((place) => !failed.has(place));
    this.#running = withPlaces(this.#running, next, inForce);
    if (inForce.length > 0)
      this.#log.info("the config has changed and is in force", { settings: inForce.map((place) => place.join(".")) });
    return failures.length === 0 ? undefined : failures.join(". ");
  }

  #callFollowers(running: Config, before: ConfigState): void {
    const { restart, problem } = this.#state;
    const taken = [...differences(running, this.#running)].map((place) => place.join("."));
    const names = [...taken, ...restart.filter((name) => !before.restart.includes(name))];
    if (names.length === 0 && problem === before.problem) return;
    for (const follower of this.#followers) follower(names);
  }

  #tell(before: ConfigState): void {
    const { problem, restart } = this.#state;
    if (problem !== undefined && problem !== before.problem) this.#log.warn(problem);
    if (problem === undefined && before.problem !== undefined) this.#log.info("the config can be used again");
    if (restart.length > 0 && restart.join() !== before.restart.join())
      this.#log.warn(`Restart the gateway: the config has changed at ${restart.join(", ")}.`);
  }
}

/** A mistake that is new: at a start it would switch off its section, but here there is a config that works. */
function whyNot(loaded: LoadedConfig, before: LoadedConfig): string | undefined {
  if (loaded.unparsable !== undefined) {
    return `${faultSentence(loaded.unparsable.path, loaded.unparsable)}. The gateway goes on as before.`;
  }
  if (loaded.path === undefined && before.path !== undefined)
    return `${before.path} is not there any more. The gateway goes on as before.`;
  const known = new Set(before.problems);
  const found = loaded.problems.filter((problem) => !known.has(problem) && !/: chmod \d{3} /.test(problem));
  if (found.length === 0) return undefined;
  return `${found.map(findingIn).join(". ")}. The gateway goes on as before.`;
}

function isOwned({ sections }: SettingOwner, place: SettingPath): boolean {
  return sections.some((section) => section.split(".").every((part, at) => part === place[at]));
}
