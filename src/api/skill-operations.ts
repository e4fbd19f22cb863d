import { RequestError } from "../errors.js";
import { draft, type EventDraft } from "../events/event.js";
import type { KnownSkillsApi, SkillSummary, SkillsApi } from "./skills-api.js";

export interface Skills {
  list(): Promise<readonly SkillSummary[]>;
  text(name: string): Promise<string | undefined>;
  /** Resolves with the skill as it is now; undefined for one that there is not. */
  switchTo(name: string, isEnabled: boolean): Promise<SkillSummary | undefined>;
  leftOut(): readonly string[];
  lookAgain(): void;
}

/** What skills there are. */
export function createKnownSkillOperations(skills: Pick<Skills, "list" | "text">): KnownSkillsApi {
  return {
    listSkills: () => skills.list(),
    async getSkill(name) {
      const { summary } = await findSkill(skills, name);
      const content = await skills.text(summary.name);
      if (content === undefined) throw unknownSkill(name);
      return { ...summary, content };
    },
  };
}

interface SkillPorts {
  readonly workspace: string;
  readonly skills: Skills;
  /** Addresses of private networks that may be reached, as the config has them now. */
  readonly reachable: () => readonly string[];
}

/** Switches, installs, writes and deletes skills. */
export function createSkillOperations(
  { skills, workspace, reachable }: SkillPorts,
  logEvent: (event: EventDraft) => Promise<void>,
): SkillsApi {
  let opened: ReturnType<typeof openEdits> | undefined;
  const edits = () => {
    opened ??= openEdits(workspace);
    return opened;
  };
  const changed = async (to: string): Promise<void> => {
    skills.lookAgain();
    await logEvent(draft("settings_changed", { scope: "gateway", key: "skill", to }, { source: "client" }));
  };
  return {
    async enable(name, isEnabled) {
      const skill = await skills.switchTo(name, isEnabled);
      if (skill === undefined) throw unknownSkill(name);
      await changed(`${skill.name} ${isEnabled ? "on" : "off"}`);
      return { name: skill.name, enabled: isEnabled };
    },
    async install(request, signal) {
      const { installInto } = await import("./skill-files.js");
      const installed = await installInto({ workspace, allow: reachable() }, request, signal);
      for (const { name } of installed) await changed(`${name} installed`);
      return installed;
    },
    async create(name, description) {
      const { createIn } = await import("./skill-files.js");
      const created = await createIn(workspace, name, description);
      await changed(`${name} created`);
      return created;
    },
    async file(name) {
      const { summary } = await findSkill(skills, name);
      const read = await (await edits()).read(summary);
      return { name: summary.name, path: summary.path, writing: writingOf[summary.source], ...read };
    },
    async write(name, text, revision) {
      const { summary } = await findSkill(skills, name);
      const written = await (await edits()).write(summary, text, revision);
      await changed(`${summary.name} changed`);
      return written;
    },
    async remove(name) {
      const { summary, all } = await findSkill(skills, name);
      await (await edits()).remove(summary, all);
      await changed(`${summary.name} deleted`);
    },
    leftOut: () => skills.leftOut(),
  };
}

const writingOf = { workspace: "in place", bundled: "copy", user: "refused" } as const;

/** Loaded when somebody reads or changes a skill for the first time. */
async function openEdits(workspace: string) {
  const { editsIn } = await import("./skill-files.js");
  return editsIn(workspace);
}

/** By the name of its file first. @throws {RequestError} 404 */
async function findSkill(skills: Pick<Skills, "list">, name: string) {
  const all = await skills.list();
  const isCalled = (other: string | undefined): boolean => other?.toLowerCase() === name.toLowerCase();
  const summary = all.find((skill) => isCalled(skill.name)) ?? all.find(({ displayName }) => isCalled(displayName));
  if (summary === undefined) throw unknownSkill(name);
  return { summary, all };
}

function unknownSkill(name: string): RequestError {
  return new RequestError(`There is no skill ${name.slice(0, 100)}.`, { status: 404, code: "not_found" });
}
