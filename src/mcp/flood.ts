/** Counts what a server says unasked: true while it is no more than somebody could want to hear. */
export function createFloodGuard(max: number, windowMs: number): () => boolean {
  let since = 0;
  let count = 0;
  return () => {
    const now = performance.now();
    if (now - since > windowMs) {
      since = now;
      count = 0;
    }
    count += 1;
    return count <= max;
  };
}
