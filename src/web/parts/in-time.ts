/** Longer than this nobody waits for code that only makes the page better. */
const mostMs = 2000;

/** Resolves once it is there, or is not worth waiting for. Never rejects. */
export async function inTime(load: Promise<unknown>): Promise<void> {
  const waited = new Promise((resolve) => setTimeout(resolve, mostMs));
  await Promise.race([load.catch(() => undefined), waited]);
}
