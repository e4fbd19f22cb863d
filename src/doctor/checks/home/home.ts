import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { findGoneWorkspace } from "../../../offline/doctor.js";
import { makeFolder } from "../../../util/files/make-folder.js";
import { reasonOf } from "../../../util/files/system-fault.js";
import { findingSentence } from "../../../util/words/finding-sentences.js";
import type { Check, Finding, World } from "../../check.js";

/** Home and workspace: there, folders, ours, and open for writing. */
export const homeCheck: Check = {
  name: "home",
  async run(world) {
    const { home, loaded } = world;
    const { workspace } = loaded.config.agents.defaults;
    const first = await folderFindings(home, "home", world);
    if (first.some(({ level }) => level !== "ok") || workspace === home) return first;
    const found = loaded.config.engine.kind === "embedded" ? findGoneWorkspace({ home, workspace }) : undefined;
    if (found !== undefined)
      return [...first, { level: "fail", found, todo: findingSentence("workspace_gone_todo", { folder: workspace }) }];
    return [...first, ...(await folderFindings(workspace, "workspace", world))];
  },
};

async function folderFindings(
  folder: string,
  name: "home" | "workspace",
  { gateway }: World,
): Promise<readonly Finding[]> {
  const stats = await stat(folder).catch((error: NodeJS.ErrnoException) => error);
  if (stats instanceof Error) {
    if (stats.code !== "ENOENT")
      return [
        {
          level: "fail",
          found: findingSentence(`${name}_unseen`, { folder, reason: reasonOf(stats) }),
          todo: findingSentence("check_owner"),
        },
      ];
    const fix = {
      does: `mkdir ${folder}`,
      apply: () => makeFolder(folder),
    };
    return [
      {
        level: gateway.state === "none" ? "warn" : "fail",
        found: findingSentence(`${name}_absent`, { folder }),
        todo: findingSentence(`${name}_absent_todo`),
        fix,
      },
    ];
  }
  if (!stats.isDirectory())
    return [
      { level: "fail", found: findingSentence(`${name}_not_folder`, { folder }), todo: findingSentence("move_away") },
    ];
  const uid = process.getuid?.();
  const isOthers = uid !== undefined && uid !== 0 && stats.uid !== uid;
  try {
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const todo = isOthers ? findingSentence("run_as_owner", { uid: stats.uid }) : findingSentence("check_mount");
    return [{ level: "fail", found: findingSentence(`${name}_closed`, { folder, reason: reasonOf(error) }), todo }];
  }
  return [{ level: "ok", found: findingSentence(`${name}_fine`, { folder }) }];
}
