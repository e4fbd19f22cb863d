import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** By then the program has started. What it has loaded stays anyway, and collecting in between took a tenth of a start. */
const afterMs = 1000;

/**
 * V8 lets the heap grow with the memory of the machine, to several times what is alive: the gateway is to stay small
 * also on a large one. The young part of the heap keeps what size it has reached, so that it is kept small from the
 * beginning. The rest is looked at with each collection, and can be set while the program runs. The first of these is
 * ours: a gateway that waits would not come to one for a long time, and keep what its start has left.
 */
export function keepHeapSmall() {
  setFlagsFromString("--semi-space-growth-factor=1");
  setTimeout(() => {
    setFlagsFromString("--heap-growing-percent=50");
    // New objects have a megabyte: waking other threads for it takes longer than one thread takes to look through it.
    setFlagsFromString("--no-parallel-scavenge");
    setFlagsFromString("--expose-gc");
    runInNewContext("gc")();
    setFlagsFromString("--no-expose-gc");
  }, afterMs).unref();
}
