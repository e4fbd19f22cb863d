import { printNote } from "./output.js";

/** Says what is done, once it takes long. */
export async function whileSaying<T>(line: string, work: () => Promise<T>, quietMs = 1000): Promise<T> {
  const timer = setTimeout(() => printNote(line), quietMs);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}
