import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { readOnly } from "../util/files/real-path.js";
import { parseSkill } from "./parse.js";
import { foldName } from "./skill.js";

/** What is wrong with a skill file, each as one sentence. */
export interface SkillVerdict {
  /** It does not work, or not as a skill. */
  readonly errors: readonly string[];
  /** It works here, and breaks a rule of the SKILL.md standard or of good sense. */
  readonly warnings: readonly string[];
}

/** The built-in tools, and how other programs call the same. */
const knownTools =
  /^(?:read_file|write_file|edit_file|list_dir|grep|glob|exec|terminal|web_search|web_fetch|browser|message|send_file|spawn|cron|read_skill|memory_search|memory_write|ask_human|plan|mcp_.+|bash|shell|read|write|edit|multiedit|ls|webfetch|websearch|task|todowrite)$/i;

export async function validateSkill(file: string): Promise<SkillVerdict> {
  const isFolder = path.basename(file).toLowerCase() === "skill.md";
  const name = isFolder ? path.basename(path.dirname(file)) : path.basename(file).replace(/\.md$/i, "");
  const text = await readFile(file, { encoding: "utf8", flag: readOnly });
  const { errors, warnings } = await validateText(text, { name, folder: path.dirname(file) });
  const wrongName = `"${name}" is not a valid skill name: use letters, digits, - _ and . only, at most 64.`;
  return { errors: isSkillName(name) ? errors : [wrongName, ...errors], warnings };
}

/** The same of a text that is to be in the file of a skill of this name, in this folder. */
export async function validateText(
  text: string,
  { name, folder }: { readonly name: string; readonly folder: string },
): Promise<SkillVerdict> {
  const errors: string[] = [];
  const warnings: string[] = [];
  const parsed = await parseSkill(text);
  if (parsed.problem !== undefined)
    errors.push(`Its front matter cannot be read${parsed.problem.replace(/^.*?:/, ":")}.`);
  if (parsed.body === "") errors.push("It is empty: there is nothing to follow.");
  if (!/^\uFEFF?---/.test(text))
    warnings.push("It has no front matter: put name and description between two lines ---.");
  else if (parsed.title === undefined) warnings.push("Its front matter has no name.");
  else if (foldName(parsed.title) !== foldName(name))
    warnings.push(`Its name is "${parsed.title}", its file says "${name}".`);
  if (parsed.problem === undefined && !/^description:/m.test(text))
    warnings.push("It has no description: the assistant does not know when to use it.");
  if (parsed.truncated) warnings.push("It is longer than 12,000 characters: put the rest into files beside it.");
  for (const tool of parsed.allowedTools) {
    const plain = tool.replace(/\(.*$/, "");
    if (!knownTools.test(plain)) warnings.push(`allowed-tools names ${plain}, which maxclaw does not have.`);
  }
  for (const target of linksOf(parsed.body))
    if ((await stat(path.join(folder, target)).catch(() => undefined)) === undefined)
      warnings.push(`It names ${target}, which is not beside it.`);
  return { errors, warnings };
}

/** A name that a file can have on every system, and that selects nothing else. */
export function isSkillName(name: string): boolean {
  return (
    /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,63}$/u.test(name) &&
    !/\.(?:md)?$/i.test(name) &&
    !/^(?:all|none|readme)$/i.test(name)
  );
}

function linksOf(body: string): readonly string[] {
  const targets = [...body.matchAll(/\]\((?!\w{1,20}:|#|\/)([^()\s#]{1,300})[^()]{0,300}\)/g)].map(
    ([, target = ""]) => target,
  );
  return [...new Set(targets)];
}
