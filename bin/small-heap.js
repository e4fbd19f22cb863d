import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * V8 lets the heap grow with the memory of the machine, to several times what is alive: the gateway is to stay small
 * also on a large one. The young part of the heap keeps what size it has reached, so that it is kept small from the
 * beginning.
 */
export function keepNewObjectsFew() {
  setFlagsFromString("--semi-space-growth-factor=1");
}

/**
 * The rest of the heap is looked at with each collection, and can be set while the program runs. It is when the program has started: what
 * it has loaded stays anyway, and collecting in between took a tenth of a start. The first collection is ours: a gateway that waits would not
 * come to one for a long time, and keep what its start has left.
 */
export function keepHeapSmall() {
  setFlagsFromString("--heap-growing-percent=50");
  // New objects have a megabyte: waking other threads for it takes longer than one thread takes to look through it.
  setFlagsFromString("--no-parallel-scavenge");
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  setFlagsFromString("--no-expose-gc");
}
