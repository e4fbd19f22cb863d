import { LRUCache } from "lru-cache";

/** Who has written how much in which hour. */
export interface HourlyCap {
  /** Counts one more; false when it is one too many. */
  take(address: string, arrivedAt: number): boolean;
  giveBack(address: string, arrivedAt: number): void;
}

const hourMs = 3600 * 1000;
const manySenders = 2000;

/** Counts by when mails arrived, so that those of a long absence are not too many at once. */
export function createHourlyCap(most: number): HourlyCap {
  const arrivals = new LRUCache<string, number[]>({ max: manySenders });
  return {
    take(address, arrivedAt) {
      const times = (arrivals.get(address) ?? []).filter((time) => Math.abs(time - arrivedAt) < hourMs);
      if (times.length >= most) return false;
      arrivals.set(address, [...times, arrivedAt]);
      return true;
    },
    giveBack(address, arrivedAt) {
      const times = arrivals.get(address) ?? [];
      const at = times.lastIndexOf(arrivedAt);
      if (at !== -1) times.splice(at, 1);
    },
  };
}
