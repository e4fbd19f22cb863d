import { startProgram } from "./start.js";

/** Runs a command line with what the compiler has made of each source. */
export async function start(args: readonly string[], settleHeap: () => void): Promise<void> {
  await startProgram(args, settleHeap, async () => {
    const { main } = await import("../main.js");
    return { main, keepCode: async () => undefined };
  });
}
