import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { z } from "zod";
import { ConfigError, messageOf } from "../errors.js";
import { alreadyAlone } from "../util/async/alone.js";
import { isMissing } from "../util/error-code.js";
import { readOnly } from "../util/files/real-path.js";
import { replaceFile } from "../util/files/replace-file.js";
import { Looks } from "./looks.js";
import { type ParsedSkill, parseSkill } from "./parse.js";
import { foldName, type Skill, type SkillSummary } from "./skill.js";
import { type SkillFile, walkSkills } from "./walk.js";

export interface SkillsOptions {
  readonly workspace: string;
  /** The skills that come with the program. */
  readonly bundled: string;
  /** Look into `~/.agents/skills` too. */
  readonly enableGlobalSkills: boolean;
  /** The person's home. Default `os.homedir()`. */
  readonly userHome?: string;
}

export interface FoundSkills {
  /** Sorted by name, those that are switched off included. */
  readonly skills: readonly Skill[];
  readonly problems: readonly SkillProblem[];
}

/** What is wrong with a file. */
export interface SkillProblem {
  readonly path: string;
  /** For people, with the path. */
  readonly sentence: string;
}

/** The skills as they are on disk at the moment of the call; files that did not change are not read again. */
export interface Skills {
  find(): Promise<FoundSkills>;
  /** An enabled skill for the model, or undefined. */
  read(name: string): Promise<LoadedSkill | undefined>;
  /** The text of a skill for people, whether it is on or off; undefined where there is none of that name. */
  text(name: string): Promise<string | undefined>;
  /**
   * Switches a skill on or off for good; undefined where there is none of that name.
   *
   * @throws {ConfigError} when the file that says what is off cannot be read or written; it is left as it was
   */
  switchTo(name: string, isEnabled: boolean): Promise<Skill | undefined>;
}

/** A skill whose text the model asked for. */
export interface LoadedSkill {
  readonly name: string;
  readonly source: SkillSummary["source"];
  readonly truncated: boolean;
  readonly text: string;
}

const maxBytes = 1024 * 1024;
const stateFile = ".skills_state.json";

interface Cached {
  readonly stamp: string;
  readonly parsed: ParsedSkill;
}

/** `alone`: other nodes may change what is off. */
export function createSkills(options: SkillsOptions, alone = alreadyAlone): Skills {
  const files = new SkillFiles(options);
  const find = (): Promise<FoundSkills> => files.find();
  return {
    find,
    async text(name) {
      const skill = findByName((await find()).skills, name);
      return skill && toText(skill);
    },
    async switchTo(name, isEnabled) {
      const skill = findByName((await find()).skills, name);
      if (skill === undefined) return undefined;
      await alone(() => saveState(path.join(options.workspace, stateFile), skill, isEnabled));
      return { ...skill, enabled: isEnabled };
    },
    async read(name) {
      const { skills } = await find();
      const skill = findByName(
        skills.filter((each) => each.enabled),
        name,
      );
      if (skill === undefined) return undefined;
      const { source, truncated } = skill;
      return { name: skill.name, source, truncated, text: toText(skill) };
    },
  };
}

/** The files that skills are made of, and what they were at the last look. */
class SkillFiles {
  readonly #roots: readonly { readonly folder: string; readonly source: SkillSummary["source"] }[];
  readonly #state: string;
  readonly #parsed = new Map<string, Cached>();
  #last: { readonly looks: Looks; readonly found: FoundSkills } | undefined;

  constructor({ workspace, bundled, enableGlobalSkills, userHome = homedir() }: SkillsOptions) {
    const user = { folder: path.join(userHome, ".agents", "skills"), source: "user" as const };
    this.#roots = [
      { folder: path.join(workspace, "skills"), source: "workspace" },
      { folder: bundled, source: "bundled" },
      ...(enableGlobalSkills ? [user] : []),
    ];
    this.#state = path.join(workspace, stateFile);
  }

  /** Every message asks, and hardly ever has anything changed. */
  async find(): Promise<FoundSkills> {
    if (this.#last?.looks.isUnchanged() === true) return this.#last.found;
    const looks = new Looks();
    const found = await this.#look(looks);
    this.#last = { looks, found };
    return found;
  }

  async #look(looks: Looks): Promise<FoundSkills> {
    const problems: SkillProblem[] = [];
    const report = (path: string, what: string) => problems.push({ path, sentence: `${path}: ${what}` });
    const byName = new Map<string, Skill>();
    const seenPaths = new Set<string>();
    looks.at(this.#state);
    const isEnabled = await loadState(this.#state, report);
    const walked = await Promise.all(
      this.#roots.map(async (root) => ({ ...root, files: await walkSkills(root.folder, looks) })),
    );
    for (const { source, files } of walked) {
      for (const file of files) {
        seenPaths.add(file.path);
        const key = foldName(file.name);
        const earlier = byName.get(key);
        if (earlier !== undefined) {
          if (earlier.source === source) report(file.path, `${earlier.path} has the same name and is used.`);
          continue;
        }
        if (file.size > maxBytes) {
          report(file.path, "larger than 1 MB, left out.");
          continue;
        }
        try {
          const skill = toSkill(file, source, await this.#load(file), isEnabled);
          if (skill.problem !== undefined) report(file.path, skill.problem);
          byName.set(key, skill);
        } catch (error) {
          looks.doubt();
          report(file.path, `cannot be read (${messageOf(error)}).`);
        }
      }
    }
    for (const known of this.#parsed.keys()) if (!seenPaths.has(known)) this.#parsed.delete(known);
    const skills = [...byName.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, skill]) => skill);
    return { skills, problems };
  }

  async #load(file: SkillFile): Promise<ParsedSkill> {
    const cached = this.#parsed.get(file.path);
    if (cached?.stamp === file.stamp) return cached.parsed;
    const parsed = await parseSkill(await readFile(file.path, { encoding: "utf8", flag: readOnly }));
    this.#parsed.set(file.path, { stamp: file.stamp, parsed });
    return parsed;
  }
}

/** By the name of the file or folder first, then by the front matter's. */
export function findByName(skills: readonly Skill[], name: string): Skill | undefined {
  const wanted = foldName(name);
  return (
    skills.find((skill) => foldName(skill.name) === wanted) ??
    skills.find((skill) => skill.aliases.some((alias) => foldName(alias) === wanted))
  );
}

function toSkill(
  file: SkillFile,
  source: SkillSummary["source"],
  { title, ...parsed }: ParsedSkill,
  isEnabled: (aliases: readonly string[]) => boolean,
): Skill {
  const aliases = title === undefined || foldName(title) === foldName(file.name) ? [file.name] : [file.name, title];
  return { name: file.name, aliases, source, path: file.path, enabled: isEnabled(aliases), ...parsed };
}

function toText(skill: Skill): string {
  const isFolder = path.basename(skill.path).toLowerCase() === "skill.md";
  const notes = [
    ...(skill.truncated ? [`[Cut: the rest is in ${skill.path}]`] : []),
    ...(isFolder && skill.source === "workspace" ? [`[Files of this skill: ${path.dirname(skill.path)}]`] : []),
  ];
  return [skill.body === "" ? "(this skill is empty)" : skill.body, ...notes].join("\n\n");
}

async function loadState(
  file: string,
  report: (path: string, what: string) => void,
): Promise<(aliases: readonly string[]) => boolean> {
  const states = new Map<string, boolean>();
  try {
    const state = z
      .record(z.string(), z.unknown())
      .parse(JSON.parse(await readFile(file, { encoding: "utf8", flag: readOnly })));
    for (const [name, value] of Object.entries(state)) {
      if (typeof value === "boolean") states.set(foldName(name), value);
      else report(file, `the entry of ${name} is neither true nor false.`);
    }
  } catch (error) {
    if (!isMissing(error)) report(file, "cannot be read, so all skills are on.");
  }
  return (aliases) => aliases.map((alias) => states.get(foldName(alias))).find((value) => value !== undefined) ?? true;
}

/** Changes one entry, under whatever of its names it is, and keeps the others as they are. */
async function saveState(file: string, { name, aliases }: Skill, isEnabled: boolean): Promise<void> {
  try {
    const state = z
      .record(z.string(), z.unknown())
      .parse(JSON.parse(await readFile(file, { encoding: "utf8", flag: readOnly }).catch(orMissing)));
    const called = new Set(aliases.map(foldName));
    const others = Object.entries(state).filter(([key]) => !called.has(foldName(key)));
    const changed = Object.fromEntries([...others, [name, isEnabled]]);
    await replaceFile(file, `${JSON.stringify(changed, null, 2)}\n`);
  } catch (error) {
    throw new ConfigError(`${file} cannot be changed: ${messageOf(error)}. Repair or remove it, then try again.`, {
      cause: error,
    });
  }
}

function orMissing(error: unknown): string {
  if (isMissing(error)) return "{}";
  throw error;
}
