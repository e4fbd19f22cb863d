/** A number from 0 up to but not including 1. */
export type Random = () => number;

/** The same numbers for the same seed, so that a failing run can be repeated. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}
