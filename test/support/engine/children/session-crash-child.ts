import fs from "node:fs";
import fsp from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

// Sessions at work in a process that kills itself before the n-th change of a file in the sessions' folder.
const [home = "", what = "", place] = process.argv.slice(2);
const killAt = Number(place);
let changes = 0;
let isArmed = false;

function onChange(path: unknown): void {
  if (!isArmed || !String(path).includes("/sessions/")) return;
  changes += 1;
  if (changes === killAt) process.kill(process.pid, "SIGKILL");
}

type Functions = Record<string, (...args: unknown[]) => unknown>;

/** What lies below the program is the operating system: it is told there when its files change. */
function watch(where: object, names: readonly string[], changesAt: (args: unknown[]) => boolean = () => true): void {
  // Built-in modules are plain objects of functions, which their types do not say.
  const functions = where as Functions;
  for (const name of names) {
    const real = functions[name];
    if (real === undefined) continue;
    functions[name] = (...args) => {
      if (changesAt(args)) onChange(args[0]);
      return Reflect.apply(real, where, args);
    };
  }
}

watch(fsp, ["writeFile", "appendFile", "rename", "rm", "unlink"]);
watch(fs, ["rename", "unlink", "rmSync"]);
watch(fs, ["open", "openSync"], ([, flags]) => typeof flags === "string" && flags !== "r");
syncBuiltinESMExports();

const [{ openStore }, { queued }] = await Promise.all([
  import("../histories/session-store.js"),
  import("../engine-kit.js"),
]);
const key = "webui:one";
{
  await using opened = await openStore(home, { quietMs: 60_000 });
  await opened.store.open(key);
  isArmed = true;
  if (what === "delete") await opened.store.delete(key);
  else await opened.engine.append(key, [queued("msg_2")], { durable: true });
  await opened.store.flush();
}
