import { existsSync } from "node:fs";
import { thisAccount } from "../service/account.js";
import { openManager, withRuntimeFolder } from "../service/open-manager.js";
import { createRunProgram } from "../service/programs.js";
import { usualBootMark } from "../service/systemd.js";
import type { World } from "./check.js";

/** The service that starts the gateway of this home; undefined where none is installed, `impossible` where nothing could start one. */
export async function viewService(
  { home, env }: Pick<World, "home" | "env">,
  signal: AbortSignal,
): ReturnType<World["service"]> {
  const account = thisAccount(env);
  const run = createRunProgram(withRuntimeFolder(env, account.uid), signal);
  for (const scope of process.platform === "darwin" ? (["user"] as const) : (["user", "system"] as const)) {
    if (!["linux", "darwin"].includes(process.platform)) return "impossible";
    const manager = openManager({ scope, name: "maxclaw", run, env, ...account });
    if ((await manager.installedHome().catch(() => undefined)) !== home) continue;
    const { lines, problems } = await manager.status();
    return { line: lines[0] ?? manager.file, problems };
  }
  return process.platform === "linux" && !existsSync(usualBootMark) ? "impossible" : undefined;
}
