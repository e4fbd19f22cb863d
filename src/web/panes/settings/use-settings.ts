import { useEffect, useRef, useState } from "preact/hooks";
import { type Api, Refused } from "../../gateway/api.js";
import { type Loaded, useLoad } from "../parts/loading.js";
import type { PaneWorld } from "../world.js";
import { type AllSettings, type Change, readAll, writeChanges } from "./all-settings.js";
import { fieldWords } from "./fields/words.js";

/** Writes changes of the settings. @throws {Error} one sentence for people */
export type SaveChanges = (changes: readonly Change[]) => Promise<void>;

export interface Settings {
  readonly loaded: Loaded<AllSettings>;
  readonly save: SaveChanges;
}

/** The newest of what was read and written: answers may come in another order than they were asked for. */
class Latest {
  readonly #api: Api;
  #all: AllSettings | undefined;
  #at = 0;
  #moment = 0;

  constructor(api: Api) {
    this.#api = api;
  }

  get all(): AllSettings | undefined {
    return this.#all;
  }

  /** The result is newer than what was asked for, where that has come meanwhile. */
  async read(): Promise<AllSettings> {
    this.#moment += 1;
    const at = this.#moment;
    const all = await readAll(this.#api);
    return this.#take(all, at);
  }

  /** @throws {Refused} 412 when the file has changed meanwhile */
  async write(changes: readonly Change[]): Promise<void> {
    const all = await writeChanges(this.#api, this.#all?.revision ?? "", changes);
    // What is being read may be from before it was written.
    this.#moment += 1;
    this.#take(all, this.#moment);
  }

  #take(all: AllSettings, at: number): AllSettings {
    if (this.#all !== undefined && at < this.#at) return this.#all;
    this.#all = all;
    this.#at = at;
    return all;
  }
}

/** The settings, read again when somebody comes back to the page: they may have been in an editor. */
export function useSettings(world: PaneWorld): Settings {
  const [latest] = useState(() => new Latest(world.api));
  const [, draw] = useState<AllSettings>();
  const read = useLoad(world, () => latest.read(), []);
  const { reload } = read;
  useEffect(() => {
    const look = (): void => {
      if (!document.hidden) reload();
    };
    document.addEventListener("visibilitychange", look);
    addEventListener("focus", look);
    return () => {
      document.removeEventListener("visibilitychange", look);
      removeEventListener("focus", look);
    };
  }, [reload]);
  const write = async (changes: readonly Change[]): Promise<void> => {
    try {
      await latest.write(changes);
      world.refreshStatus();
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 412) throw error;
      // Before it is said: who saves again then means what is there now.
      await latest.read();
      throw new Error(fieldWords.t("changedMeanwhile"));
    } finally {
      draw(latest.all);
    }
  };
  // One after the other: each is meant for the file that the one before has left.
  const last = useRef<Promise<unknown>>(Promise.resolve());
  const save: SaveChanges = (changes) => {
    const mine = last.current.then(() => write(changes));
    last.current = mine.catch(() => undefined);
    return mine;
  };
  return { loaded: { ...read, value: latest.all }, save };
}
