import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** What is alive in this process after a full collection: its heap, and what lies beside it. */
export function liveBytes(): number {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  if (typeof collect !== "function") throw new Error("Node does not collect on demand");
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
