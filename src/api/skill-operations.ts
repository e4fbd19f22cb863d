import { RequestError } from "../errors.js";
import { draft, type EventDraft } from "../events/event.js";
import type { SkillSummary } from "./gateway-api.js";
import type { SkillsApi } from "./skills-api.js";

interface SkillPorts {
  readonly workspace: string;
  readonly skills: { switchTo(name: string, isEnabled: boolean): Promise<SkillSummary | undefined> };
}

export function createSkillOperations(
  { skills, workspace }: SkillPorts,
  tell: (event: EventDraft) => Promise<void>,
): SkillsApi {
  const told = (to: string): Promise<void> =>
    tell(draft("settings_changed", { scope: "gateway", key: "skill", to }, { source: "client" }));
  return {
    async enable(name, isEnabled) {
      const skill = await skills.switchTo(name, isEnabled);
      if (skill === undefined) throw new RequestError(`There is no skill ${name}`, { status: 404, code: "not_found" });
      await told(`${skill.name} ${isEnabled ? "on" : "off"}`);
      return { name: skill.name, enabled: isEnabled };
    },
    async install(request, signal) {
      const { installInto } = await import("./skill-files.js");
      const installed = await installInto(workspace, request, signal);
      for (const { name } of installed) await told(`${name} installed`);
      return installed;
    },
  };
}
