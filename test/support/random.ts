/** Numbers from 0 up to 1, the same ones for the same seed, so that a failing run can be repeated. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}
