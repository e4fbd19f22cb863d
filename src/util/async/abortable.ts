import { within } from "./within.js";

/** {@link within} for a stream: the same items until `signal` aborts; then the reason is thrown at once, however long the next item takes. */
export async function* abortable<T>(items: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  const limit = { signal };
  let isOver = false;
  try {
    for (;;) {
      const next = await within(iterator.next(), limit);
      isOver = next.done === true;
      if (next.done) return;
      yield next.value;
    }
  } finally {
    // Not waited for: anyone who does not listen to the signal may never answer this either.
    if (!isOver) void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}
