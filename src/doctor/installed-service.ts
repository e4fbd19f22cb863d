import { homedir, userInfo } from "node:os";
import { openManager, withRuntimeFolder } from "../service/open-manager.js";
import { createRunProgram } from "../service/programs.js";
import type { World } from "./check.js";

/** The service that starts the gateway of this home; undefined where none is installed. */
export async function viewService(
  { home, env }: Pick<World, "home" | "env">,
  signal: AbortSignal,
): ReturnType<World["service"]> {
  const { uid, username: user } = userInfo();
  const run = createRunProgram(withRuntimeFolder(env, uid), signal);
  for (const scope of process.platform === "darwin" ? (["user"] as const) : (["user", "system"] as const)) {
    if (!["linux", "darwin"].includes(process.platform)) return undefined;
    const manager = openManager({ scope, name: "maxclaw", run, env, homedir: env.HOME ?? homedir(), user, uid });
    if ((await manager.installedHome().catch(() => undefined)) !== home) continue;
    const { lines, problems } = await manager.status();
    return { line: lines[0] ?? manager.file, problems };
  }
  return undefined;
}
