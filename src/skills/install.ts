import { lstat, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import { RequestError } from "../errors.js";
import { makeFolder } from "../util/files/make-folder.js";
import { readOnly } from "../util/files/real-path.js";
import { replaceFile } from "../util/files/replace-file.js";
import { newId } from "../util/ids.js";
import { trimEndWhere } from "../util/text/trim-where.js";
import { fetchOrigin, parseOrigin, type Resolve } from "./fetch.js";
import { parseSkill } from "./parse.js";
import { isSkillName, validateSkill } from "./validate.js";
import { walkSkills } from "./walk.js";

export interface InstalledSkill {
  readonly name: string;
  /** Its folder, or its file. */
  readonly path: string;
  readonly warnings: readonly string[];
}

export interface InstallOptions {
  readonly workspace: string;
  /** Replace skills that are there under these names. */
  readonly replace: boolean;
  /** Only this one of several. */
  readonly only?: string | undefined;
  /** What its owner calls the file, where the path says something else. */
  readonly called?: string | undefined;
  readonly resolve: Resolve;
}

const maxSkills = 50;

/**
 * Puts skills from a folder, a zip, a file or a git repository into the workspace: all of them or none, each whole or not at
 * all. Nothing that is in them is run. They count from the next message on.
 *
 * @throws {RequestError} 400 with a sentence for the person who named the place, 409 when there is one of that name
 */
export async function installSkills(
  source: string,
  { workspace, replace, only, called, resolve }: InstallOptions,
  signal: AbortSignal,
): Promise<readonly InstalledSkill[]> {
  const origin = await parseOrigin(source);
  const root = path.join(workspace, "skills");
  // On the same file system as its end, under a name that is not looked at.
  const staging = path.join(root, `.new-${newId("skill")}`);
  try {
    const fetched = path.join(staging, "fetched");
    await fetchOrigin(origin, fetched, { resolve, called }, signal);
    const found = await skillsIn(fetched, nameOf(called ?? source));
    const wanted = only === undefined ? found : found.filter(({ name }) => name.toLowerCase() === only.toLowerCase());
    if (wanted.length === 0)
      throw badRequest(
        found.length === 0
          ? `There is no SKILL.md in ${source}.`
          : `There is no skill ${only} in ${source}, only ${found.map(({ name }) => name).join(", ")}.`,
      );
    if (wanted.length > maxSkills)
      throw badRequest(
        `${source} holds ${wanted.length} skills, ${maxSkills} are the most at once. Choose one with --skill.`,
      );
    return await putInPlace(wanted, root, path.join(staging, "old"), replace);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** Writes a skill to start from. @throws {RequestError} 400 for what is not a name, 409 when there is one */
export async function createSkill(name: string, description: string, workspace: string): Promise<InstalledSkill> {
  if (!isSkillName(name)) throw badRequest(`"${name}" is not a valid skill name: use letters, digits, - _ and . only.`);
  const folder = path.join(workspace, "skills", name);
  if (await exists(folder)) throw taken(name);
  await makeFolder(folder, 0o777);
  const summary = description.replace(/\s+/g, " ").trim() || `Say in one line when to use ${name}.`;
  const steps = "Write here, step by step, what is to be done, which tools to use and what a good result is.\n";
  await replaceFile(
    path.join(folder, "SKILL.md"),
    `---\nname: ${name}\ndescription: ${JSON.stringify(summary)}\n---\n\n${steps}`,
  );
  return { name, path: folder, warnings: [] };
}

interface Found {
  readonly name: string;
  /** What is moved: the folder of a SKILL.md, or a file. */
  readonly from: string;
  readonly isFolder: boolean;
  readonly warnings: readonly string[];
}

/** @throws {RequestError} 400 for a skill that does not work */
async function skillsIn(folder: string, fallback: string): Promise<readonly Found[]> {
  const rootDoc = ["SKILL.md", "skill.md"].map((name) => path.join(folder, name));
  const atRoot = (await Promise.all(rootDoc.map(exists))).findIndex(Boolean);
  const files = atRoot === -1 ? (await walkSkills(folder)).map((file) => file.path) : [rootDoc[atRoot] ?? ""];
  const isLoose = (file: string): boolean => path.basename(file).toLowerCase() !== "skill.md";
  const docs = files.some((file) => !isLoose(file)) ? files.filter((file) => !isLoose(file)) : files;
  const found: Found[] = [];
  for (const file of docs) {
    const isFolder = !isLoose(file);
    const from = isFolder ? path.dirname(file) : file;
    const own = isFolder ? path.basename(from) : path.basename(file).replace(/\.md$/i, "");
    const { title } = await parseSkill(await readFile(file, { encoding: "utf8", flag: readOnly }));
    const name = [title, from === folder ? fallback : own].find((each) => each !== undefined && isSkillName(each));
    if (name === undefined) throw badRequest(`${path.relative(folder, file)} has no name that can be a file name.`);
    const { errors, warnings } = await validateSkill(file);
    const real = errors.filter((error) => !error.includes("is not a valid skill name"));
    if (real.length > 0) throw badRequest(`The skill ${name} is not installed. ${real.join(" ")}`);
    if (found.some((each) => each.name.toLowerCase() === name.toLowerCase()))
      throw badRequest(`There are two skills with the name ${name}.`);
    // Where the folder had another name before it came here, that says nothing.
    found.push({ name, from, isFolder, warnings: warnings.filter((warning) => !warning.includes("its file says")) });
  }
  return found;
}

/** One after the other; when one cannot be moved, all are as they were. */
async function putInPlace(
  wanted: readonly Found[],
  root: string,
  old: string,
  replace: boolean,
): Promise<readonly InstalledSkill[]> {
  const targets = wanted.map((skill) => ({
    ...skill,
    to: path.join(root, skill.isFolder ? skill.name : `${skill.name}.md`),
  }));
  const forms = (name: string) => [path.join(root, name), path.join(root, `${name}.md`)];
  for (const { name } of targets)
    if (!replace && (await Promise.all(forms(name).map(exists))).some(Boolean)) throw taken(name);
  await makeFolder(old, 0o777);
  const undo: (() => Promise<void>)[] = [];
  try {
    for (const { name, from, to } of targets) {
      for (const target of forms(name)) {
        if (!(await exists(target))) continue;
        const kept = path.join(old, path.basename(target));
        await rename(target, kept);
        undo.push(() => rename(kept, target));
      }
      await rename(from, to);
      undo.push(() => rm(to, { recursive: true, force: true }));
    }
  } catch (error) {
    for (const step of undo.reverse()) await step();
    throw error;
  }
  return targets.map(({ name, to, warnings }) => ({ name, path: to, warnings }));
}

async function exists(target: string): Promise<boolean> {
  return (await lstat(target).catch(() => undefined)) !== undefined;
}

/** What a source that is one skill is called when the skill does not say. */
function nameOf(source: string): string {
  const [path = ""] = source.trim().split("#", 1);
  const last =
    trimEndWhere(path, (unit) => unit === "/" || unit === "\\")
      .split(/[/\\:]/)
      .at(-1) ?? "";
  return last.replace(/\.(?:git|zip|skill)$/i, "");
}

function taken(name: string): RequestError {
  return new RequestError(`There is a skill ${name} already. Use --force to replace it.`, {
    status: 409,
    code: "already_exists",
  });
}

function badRequest(sentence: string): RequestError {
  return new RequestError(sentence, { status: 400, code: "bad_request" });
}
