import fs from "node:fs";
import fsp from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

// The bridge in a process that kills itself before the n-th change of a file, or at the n-th step of its link.
const [home = "", farUrl = "", port = "0", place = "0"] = process.argv.slice(2);
const killAt = Number(place);
let steps = 0;
let isArmed = false;

function step(): void {
  if (!isArmed) return;
  steps += 1;
  if (steps === killAt) process.kill(process.pid, "SIGKILL");
}

type Functions = Record<string, (...args: unknown[]) => unknown>;

/** What lies below the program is the operating system: it is told there when its files change. */
function watch(where: object, names: readonly string[]): void {
  // Built-in modules are plain objects of functions, which their types do not say.
  const functions = where as Functions;
  for (const name of names) {
    const real = functions[name];
    if (real === undefined) continue;
    functions[name] = (...args) => {
      if (String(args[0]).startsWith(home)) step();
      return Reflect.apply(real, where, args);
    };
  }
}

watch(fsp, ["writeFile", "rename", "rm", "unlink"]);
watch(fs, ["rename", "unlink"]);
syncBuiltinESMExports();

const [{ runBridge }, { FarLink }, { silentLog }] = await Promise.all([
  import("../../../bridges/whatsapp/src/bridge.js"),
  import("./far-link.js"),
  import("../../../src/log.js"),
]);
const onListening = (): void => {
  isArmed = true;
};
const whatsapp = new FarLink(farUrl, step);
const options = {
  home,
  host: "127.0.0.1",
  port: Number(port),
  token: undefined,
  openWhatsApp: async () => whatsapp,
  log: silentLog,
  onListening,
};
await runBridge({ ...options, reconnectMs: 20 }, new AbortController().signal);
