import { stat } from "node:fs/promises";
import { join } from "node:path";
import { createAddressPolicy } from "../policy/locations/addresses.js";
import { createEgress } from "../policy/locations/egress.js";
import { SkillEdits } from "../skills/edit.js";
import type { SkillVerdict } from "../skills/validate.js";
import type { InstalledSkill, SkillInstall } from "./skills-api.js";

/**
 * What is done with skills in a workspace, whether a gateway runs or not: it looks at them with each message. `allow`: addresses of private networks
 * that may be reached, as tools may.
 */
export async function installInto(
  { workspace, allow }: { readonly workspace: string; readonly allow: readonly string[] },
  { source, replace = false, only, called }: SkillInstall,
  signal: AbortSignal,
): Promise<readonly InstalledSkill[]> {
  const { installSkills } = await import("../skills/install.js");
  const { resolve } = createEgress(createAddressPolicy(allow));
  return await installSkills(source, { workspace, replace, only, called, resolve }, signal);
}

export async function createIn(workspace: string, name: string, description: string): Promise<InstalledSkill> {
  const { createSkill } = await import("../skills/install.js");
  return await createSkill(name, description, workspace);
}

/** To read, write and delete the skills of a workspace. */
export function editsIn(workspace: string): SkillEdits {
  return new SkillEdits(workspace);
}

/** Of a skill's file, or of a folder with a SKILL.md; undefined where there is none. */
export async function validateAt(path: string): Promise<SkillVerdict | undefined> {
  const { validateSkill } = await import("../skills/validate.js");
  for (const file of [path, join(path, "SKILL.md"), join(path, "skill.md")])
    if ((await stat(file).catch(() => undefined))?.isFile()) return await validateSkill(file);
  return undefined;
}
