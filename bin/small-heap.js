import { setFlagsFromString } from "node:v8";

/** By then the program has started. What it has loaded stays anyway, and collecting in between took a tenth of a start. */
const afterMs = 1000;

/**
 * V8 lets the heap grow with the memory of the machine, to several times what is alive: the gateway is to stay small
 * also on a large one. These are looked at with each collection, so that they can be set while the program runs.
 */
export function keepHeapSmall() {
  setTimeout(() => {
    setFlagsFromString("--optimize-for-size");
    setFlagsFromString("--heap-growing-percent=25");
    setFlagsFromString("--semi-space-growth-factor=1");
    // New objects have a megabyte: waking other threads for it takes longer than one thread takes to look through it.
    setFlagsFromString("--no-parallel-scavenge");
  }, afterMs).unref();
}
