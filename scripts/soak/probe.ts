import { setFlagsFromString, writeHeapSnapshot } from "node:v8";
import { runInNewContext } from "node:vm";

/** Loaded into a program under measurement: collects its garbage when asked and tells what is left. */
setFlagsFromString("--expose-gc");
const collect: unknown = runInNewContext("gc");
process.on("message", (wanted) => {
  if (typeof collect === "function") collect();
  if (typeof wanted === "string" && wanted !== "collect") writeHeapSnapshot(wanted);
  process.send?.(process.memoryUsage());
});
process.channel?.unref();
