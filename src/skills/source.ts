import { statSync } from "node:fs";
import { Shared } from "../util/async/shared.js";
import { missingPrograms } from "../util/files/find-program.js";
import type { LoadedSkill, SkillProblem, Skills } from "./find.js";
import { type DefaultSelector, selectSkills } from "./select.js";
import type { Skill, SkillSummary } from "./skill.js";

/** Shorter than anybody needs to save a file and send a message. */
const sharedMs = 50;

/** A skill with what people may want to know about it. */
export interface ListedSkill extends SkillSummary {
  readonly displayName: string;
  readonly allowedTools: readonly string[];
  /** What is wrong with it, each as one sentence. It can be used nevertheless. */
  readonly problems: readonly string[];
}

/** The skills as the rest of the gateway asks for them. */
export interface SkillSource {
  list(): Promise<readonly ListedSkill[]>;
  /** The text of a skill for people, whether it is on or off; undefined where there is none of that name. */
  text(name: string): Promise<string | undefined>;
  /** An enabled skill for the model, or undefined. */
  read(name: string): Promise<LoadedSkill | undefined>;
  /** What a message brings along, by its own words, the client's choice and the configuration. */
  select(
    text: string,
    selected: readonly string[] | undefined,
  ): Promise<{
    readonly matched: readonly {
      readonly name: string;
      readonly text: string;
      readonly source: string;
      readonly truncated: boolean;
    }[];
    readonly missing: readonly string[];
    readonly selector: string;
    readonly listing: readonly SkillSummary[];
  }>;
  /**
   * Switches a skill on or off, from the next message on; undefined where there is none of that name.
   *
   * @throws {ConfigError} when the file that says what is off cannot be read or written
   */
  switchTo(name: string, isEnabled: boolean): Promise<SkillSummary | undefined>;
  /** What was wrong with single files at the last look, each as one sentence; not of files that changed or went since. */
  problems(): readonly string[];
  /** The same of the files that are not in the list, for that reason. */
  leftOut(): readonly string[];
  /** The next look is at the files as they are then: somebody has just changed one. */
  lookAgain(): void;
}

export function createSkillSource(skills: Skills, selector: DefaultSelector): SkillSource {
  let problems: readonly SkillProblem[] = [];
  let listed: ReadonlySet<string> = new Set();
  let lookedAt = 0;
  const all = new Shared(async () => {
    const startedAt = Date.now();
    const found = await skills.find();
    ({ problems } = found);
    listed = new Set(found.skills.map(({ path }) => path));
    lookedAt = startedAt;
    return found.skills;
  }, sharedMs);
  return {
    async list() {
      return (await all.get()).map((skill) => {
        const { name, description, source, path, enabled, allowedTools, aliases } = skill;
        const displayName = aliases.at(-1) ?? name;
        return { name, displayName, description, source, path, enabled, allowedTools, problems: problemsOf(skill) };
      });
    },
    text: (name) => skills.text(name),
    read: (name) => skills.read(name),
    async select(text, selected) {
      const selection = selectSkills(text, selected, await all.get(), selector);
      const matched = selection.matched.map(({ name, body, source, truncated }) => ({
        name,
        text: body,
        source,
        truncated,
      }));
      return { ...selection, matched };
    },
    async switchTo(name, isEnabled) {
      const skill = await skills.switchTo(name, isEnabled);
      all.forget();
      return skill;
    },
    problems: () => problems.filter(({ path }) => isUnchanged(path, lookedAt)).map(({ sentence }) => sentence),
    leftOut: () => problems.filter(({ path }) => !listed.has(path)).map(({ sentence }) => sentence),
    lookAgain: () => all.forget(),
  };
}

function problemsOf({ problem, truncated, programs }: Skill): readonly string[] {
  const missing = missingPrograms(programs).map((names) => `It needs ${names}, which is not on this machine.`);
  return [
    ...(problem === undefined ? [] : [`${problem.replace(/^its/, "Its")}. All of the file is used as its text.`]),
    ...(truncated ? ["It is longer than 12,000 characters: the assistant gets only the beginning."] : []),
    ...missing,
  ];
}

function isUnchanged(path: string, since: number): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && stats.ctimeMs <= since;
}
