import type { SkillSummary } from "../../skills/skill.js";

/** The skills as they are on disk, and what switches them. */
export interface SkillShelf {
  list(): Promise<readonly SkillSummary[]>;
  /**
   * The skill as it is then; undefined where there is none of that name.
   *
   * @throws {ConfigError} when the file of what is off cannot be read or written
   */
  switchTo(name: string, isEnabled: boolean): Promise<SkillSummary | undefined>;
}

const usage = "/skills off NAME switches one off, /skills on NAME on again.";
const longest = 160;

/** `/skills`. `mayChange` gives one sentence where this person may not switch them. */
export async function runSkillsCommand(
  argument: string,
  shelf: SkillShelf,
  mayChange: () => string | undefined,
): Promise<string> {
  const match = /^(on|enable|off|disable)\s+(\S.*)$/is.exec(argument.trim());
  if (match === null) return /^(?:list)?$/i.test(argument.trim()) ? await describe(shelf) : usage;
  const refusal = mayChange();
  if (refusal !== undefined) return refusal;
  const isEnabled = /^(?:on|enable)$/i.test(match[1] ?? "");
  const name = (match[2] ?? "").trim().replace(/^(?:@skill:|\$)/i, "");
  const skill = await shelf.switchTo(name, isEnabled);
  if (skill === undefined) return `There is no skill “${name.slice(0, 80)}”. /skills lists them.`;
  return `${skill.name} is ${isEnabled ? "on" : "off"} from the next message on.`;
}

async function describe(shelf: SkillShelf): Promise<string> {
  const skills = await shelf.list();
  if (skills.length === 0)
    return "There are no skills. A skill is a Markdown file in the folder skills of the workspace.";
  const lines = skills.map(({ name, description, source, enabled }) => {
    const what = description.replace(/\s+/g, " ").trim();
    const shown = what.length > longest ? `${what.slice(0, longest)}…` : what;
    return `- ${name} (${enabled ? "on" : "off"}${source === "workspace" ? "" : `, ${source}`})${shown === "" ? "" : `: ${shown}`}`;
  });
  return [...lines, "", usage].join("\n");
}
