import { RequestError } from "../errors.js";
import { draft, type EventDraft } from "../events/event.js";
import type { KnownSkillsApi, SkillSummary, SkillsApi } from "./skills-api.js";

export interface Skills {
  list(): Promise<readonly SkillSummary[]>;
  text(name: string): Promise<string | undefined>;
  /** Resolves with the skill as it is now; undefined for one that there is not. */
  switchTo(name: string, isEnabled: boolean): Promise<SkillSummary | undefined>;
}

/** What skills there are. */
export function createKnownSkillOperations(skills: Pick<Skills, "list" | "text">): KnownSkillsApi {
  return {
    listSkills: () => skills.list(),
    async getSkill(name) {
      const known = await skills.list();
      const isCalled = (other: string | undefined): boolean => other?.toLowerCase() === name.toLowerCase();
      const summary =
        known.find((skill) => isCalled(skill.name)) ?? known.find(({ displayName }) => isCalled(displayName));
      const content = summary === undefined ? undefined : await skills.text(summary.name);
      if (summary === undefined || content === undefined) throw unknownSkill(name);
      return { ...summary, content };
    },
  };
}

interface SkillPorts {
  readonly workspace: string;
  readonly skills: Pick<Skills, "switchTo">;
}

/** Switches and installs skills. */
export function createSkillOperations(
  { skills, workspace }: SkillPorts,
  logEvent: (event: EventDraft) => Promise<void>,
): SkillsApi {
  const logChange = (to: string): Promise<void> =>
    logEvent(draft("settings_changed", { scope: "gateway", key: "skill", to }, { source: "client" }));
  return {
    async enable(name, isEnabled) {
      const skill = await skills.switchTo(name, isEnabled);
      if (skill === undefined) throw unknownSkill(name);
      await logChange(`${skill.name} ${isEnabled ? "on" : "off"}`);
      return { name: skill.name, enabled: isEnabled };
    },
    async install(request, signal) {
      const { installInto } = await import("./skill-files.js");
      const installed = await installInto(workspace, request, signal);
      for (const { name } of installed) await logChange(`${name} installed`);
      return installed;
    },
  };
}

function unknownSkill(name: string): RequestError {
  return new RequestError(`There is no skill ${name}`, { status: 404, code: "not_found" });
}
