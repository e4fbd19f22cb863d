import { setFlagsFromString } from "node:v8";

/**
 * V8 lets the heap grow with the memory of the machine, to several times what is alive: the gateway is to stay small
 * also on a large one. These are looked at with each collection, so that they can be set before anything is loaded.
 */
export function keepHeapSmall() {
  setFlagsFromString("--optimize-for-size");
  setFlagsFromString("--heap-growing-percent=25");
  setFlagsFromString("--semi-space-growth-factor=1");
}
