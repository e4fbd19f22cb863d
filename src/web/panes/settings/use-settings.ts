import { useEffect, useRef, useState } from "preact/hooks";
import { Refused } from "../../gateway/api.js";
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

/** The settings, read again when somebody comes back to the page: they may have been in an editor. */
export function useSettings(world: PaneWorld): Settings {
  const read = useLoad(world, () => readAll(world.api), []);
  const [latest, setLatest] = useState<AllSettings>();
  const { reload } = read;
  useEffect(() => setLatest(read.value), [read.value]);
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
  const now = useRef<AllSettings | undefined>(undefined);
  now.current = latest ?? read.value;
  const take = (next: AllSettings): void => {
    now.current = next;
    setLatest(next);
  };
  const write = async (changes: readonly Change[]): Promise<void> => {
    try {
      take(await writeChanges(world.api, now.current?.revision ?? "", changes));
      world.refreshStatus();
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 412) throw error;
      // Before it is said: who saves again then means what is there now.
      take(await readAll(world.api));
      throw new Error(fieldWords.t("changedMeanwhile"));
    }
  };
  // One after the other: each is meant for the file that the one before has left.
  const last = useRef<Promise<unknown>>(Promise.resolve());
  const save: SaveChanges = (changes) => {
    const mine = last.current.then(() => write(changes));
    last.current = mine.catch(() => undefined);
    return mine;
  };
  return { loaded: { ...read, value: latest ?? read.value }, save };
}
