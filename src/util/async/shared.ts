/**
 * The same work for callers that come within `ms` of each other: looking at the same files for each of hundred messages
 * in the same moment gives the same answer.
 */
export function shared<T>(work: () => Promise<T>, ms: number): () => Promise<T> {
  let latest: { readonly result: Promise<T>; readonly startedAt: number } | undefined;
  return () => {
    const now = performance.now();
    if (latest === undefined || now - latest.startedAt > ms) {
      const result = work();
      latest = { result, startedAt: now };
      result.catch(() => {
        latest = undefined;
      });
    }
    return latest.result;
  };
}
