import { type Api, type JsonObject, Refused, recordsIn, textIn } from "../../gateway/api.js";
import { skillsWords } from "./words.js";

export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly source: "workspace" | "bundled" | "user";
  readonly path: string;
  readonly isOn: boolean;
  readonly problems: readonly string[];
}

export interface KnownSkills {
  readonly skills: readonly Skill[];
  /** Files that are not used, each as one sentence that says why. */
  readonly leftOut: readonly string[];
}

export interface SkillFile {
  readonly name: string;
  readonly path: string;
  readonly text: string;
  readonly writing: "in place" | "copy" | "refused";
  /** Named with a change, so that it does not undo what somebody else has written meanwhile. */
  readonly mark: string;
}

/** More than the gateway takes. */
export const mostBytes = 512 * 1024;

export async function readSkills(api: Api): Promise<KnownSkills> {
  const { skills, problems } = await api.get("api/skills");
  return { skills: recordsIn(skills).map(toSkill), leftOut: textsIn(problems) };
}

function toSkill({ name, description, source, path, enabled, problems }: JsonObject): Skill {
  return {
    name: textIn(name),
    description: textIn(description),
    source: source === "bundled" || source === "user" ? source : "workspace",
    path: textIn(path),
    isOn: enabled === true,
    problems: textsIn(problems),
  };
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

export async function switchSkill(api: Api, name: string, isOn: boolean): Promise<void> {
  await api.post(`api/skills/${encodeURIComponent(name)}/${isOn ? "enable" : "disable"}`, {});
}

export async function readSkill(api: Api, name: string): Promise<SkillFile> {
  const answer = await api.response("GET", fileOf(name));
  return toFile(await answer.json(), answer.headers.get("etag") ?? "");
}

function toFile({ name, path, text, writing }: JsonObject, mark: string): SkillFile {
  const known = writing === "copy" || writing === "refused" ? writing : "in place";
  return { name: textIn(name), path: textIn(path), text: textIn(text), writing: known, mark };
}

/** Resolves with the new mark, and with what could be better. @throws {Error} what is wrong with the text */
export async function writeSkill(
  api: Api,
  { name, mark }: Pick<SkillFile, "name" | "mark">,
  text: string,
): Promise<{ readonly mark: string; readonly path: string; readonly warnings: readonly string[] }> {
  const size = new TextEncoder().encode(text).length;
  if (size > mostBytes)
    throw new Error(skillsWords.t("tooLong", { n: Math.ceil(size / 1024), most: mostBytes / 1024 }));
  const answer = await api.response("PUT", fileOf(name), { text }, { headers: { "if-match": mark } });
  const { path, warnings }: JsonObject = await answer.json();
  return { mark: answer.headers.get("etag") ?? "", path: textIn(path), warnings: textsIn(warnings) };
}

export async function createSkill(api: Api, name: string, description: string): Promise<string> {
  return textIn((await api.post("api/skills", { name, description })).name);
}

export async function removeSkill(api: Api, name: string): Promise<void> {
  await api.delete(`api/skills/${encodeURIComponent(name)}`);
}

export interface Install {
  readonly source: string;
  readonly called?: string;
  readonly replace: boolean;
}

/** Resolves with the names. Git may take its time. */
export async function installSkill(
  api: Api,
  install: Install,
): Promise<readonly { readonly name: string; readonly warnings: readonly string[] }[]> {
  const { skills } = await api.post("api/skills/install", install, { timeoutMs: 150_000 });
  return recordsIn(skills).map(({ name, warnings }) => ({ name: textIn(name), warnings: textsIn(warnings) }));
}

export function isTaken(error: unknown): boolean {
  return error instanceof Refused && error.code === "already_exists";
}

export function isChanged(error: unknown): boolean {
  return error instanceof Refused && error.code === "changed";
}

function fileOf(name: string): string {
  return `api/skills/${encodeURIComponent(name)}/file`;
}
