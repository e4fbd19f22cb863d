import { constants } from "node:fs";
import { access, mkdir, stat } from "node:fs/promises";
import { reasonOf } from "../../../util/files/system-fault.js";
import type { Check, Finding, World } from "../../check.js";

/** Home and workspace: there, folders, ours, and open for writing. */
export const homeCheck: Check = {
  name: "home",
  async run(world) {
    const { home, loaded } = world;
    const { workspace } = loaded.config.agents.defaults;
    const first = await folderFindings(home, "home", world);
    if (first.some(({ level }) => level !== "ok") || workspace === home) return first;
    return [...first, ...(await folderFindings(workspace, "workspace", world))];
  },
};

async function folderFindings(folder: string, name: string, { gateway }: World): Promise<readonly Finding[]> {
  const stats = await stat(folder).catch((error: NodeJS.ErrnoException) => error);
  if (stats instanceof Error) {
    if (stats.code !== "ENOENT")
      return [
        {
          level: "fail",
          found: `The ${name} ${folder} cannot be looked at: ${reasonOf(stats)}`,
          todo: "Check who owns it and the folders above it",
        },
      ];
    const fix = {
      does: `mkdir ${folder}`,
      apply: async () => void (await mkdir(folder, { recursive: true, mode: 0o700 })),
    };
    return [
      {
        level: gateway.state === "none" ? "warn" : "fail",
        found: `There is no ${name} ${folder} yet`,
        todo:
          name === "home"
            ? "Begin with: maxclaw onboard. If it should be there, check $MAXCLAW_HOME"
            : "It is made when the gateway starts",
        fix,
      },
    ];
  }
  if (!stats.isDirectory())
    return [
      { level: "fail", found: `The ${name} ${folder} is not a folder`, todo: "Move it away, or choose another one" },
    ];
  const uid = process.getuid?.();
  const isOthers = uid !== undefined && uid !== 0 && stats.uid !== uid;
  try {
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const todo = isOthers
      ? `Run maxclaw as the account that owns it (uid ${stats.uid})`
      : "Check its permissions, and whether its disk is mounted read-only";
    return [{ level: "fail", found: `The ${name} ${folder} cannot be written to: ${reasonOf(error)}`, todo }];
  }
  return [{ level: "ok", found: `The ${name} is ${folder}` }];
}
