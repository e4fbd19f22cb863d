import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { expandTilde } from "../config/home.js";
import { messageOf } from "../errors.js";
import { isMissing } from "../util/error-code.js";
import { isObject, type JsonObject, parseJson5 } from "./openclaw/json5.js";
import type { Problem } from "./source.js";

export async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}

export async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true;
}

/** Names in a folder, sorted; none where there is no folder. */
export async function namesIn(path: string): Promise<readonly string[]> {
  return (await readdir(path).catch(() => [])).sort();
}

/** The object in a JSON file, comments and all; empty where there is none. What cannot be read is told. */
export async function readObject(path: string, problems: Problem[]): Promise<JsonObject> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (!isMissing(error)) problems.push({ what: path, why: `it cannot be read: ${messageOf(error)}` });
    return {};
  }
  try {
    const value = await parseJson5(text);
    if (isObject(value)) return value;
    problems.push({ what: path, why: "it is not a JSON object" });
  } catch (error) {
    problems.push({ what: path, why: messageOf(error) });
  }
  return {};
}

export interface JsonLines {
  readonly rows: readonly JsonObject[];
  /** Lines that cannot be read, from 1. */
  readonly damaged: readonly number[];
}

/** @throws when the file cannot be read at all */
export async function readJsonLines(path: string): Promise<JsonLines> {
  return parseJsonLines(await readFile(path, "utf8"));
}

export function parseJsonLines(content: string): JsonLines {
  const rows: JsonObject[] = [];
  const damaged: number[] = [];
  for (const [index, line] of content.split("\n").entries()) {
    if (line.trim() === "") continue;
    try {
      const row: unknown = JSON.parse(line);
      if (isObject(row)) rows.push(row);
      else damaged.push(index + 1);
    } catch {
      damaged.push(index + 1);
    }
  }
  return { rows, damaged };
}

/** What is at a path of an object. */
export function at(root: unknown, ...path: readonly string[]): unknown {
  return path.reduce((value, key) => (isObject(value) ? value[key] : undefined), root);
}

/** The object at a path; an empty one where there is none. */
export function objectAt(root: unknown, ...path: readonly string[]): JsonObject {
  const found = at(root, ...path);
  return isObject(found) ? found : {};
}

/** The text at a path; undefined where there is none or an empty one. */
export function textAt(root: unknown, ...path: readonly string[]): string | undefined {
  const found = at(root, ...path);
  return typeof found === "string" && found.trim() !== "" ? found : undefined;
}

/** An ISO time from what programs write as one; those without an offset are of this machine. */
export function toTime(value: unknown): string | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/**
 * The workspace of an old home: the one its config names; the folder in the home where that is the usual one, which may have
 * been moved with its home, or is not there.
 */
export async function findWorkspace(
  folder: string,
  {
    named,
    usual,
    homedir,
  }: { readonly named: string | undefined; readonly usual: readonly string[]; readonly homedir: string },
): Promise<string> {
  const inHome = join(folder, "workspace");
  if (named === undefined || /\$\{/.test(named)) return inHome;
  const path = expandTilde(named.trim(), homedir);
  const absolute = path.startsWith("/") ? path : join(folder, path);
  const isUsual = usual.some((name) => absolute === join(homedir, name, "workspace"));
  if (isUsual && (await isFolder(inHome))) return inHome;
  return (await isFolder(absolute)) || !(await isFolder(inHome)) ? absolute : inHome;
}

/** The notes that are there, each with its place in our workspace. */
export async function findNotes(
  workspace: string,
  targets: Readonly<Record<string, string>>,
): Promise<readonly { readonly from: string; readonly to: string }[]> {
  const found: { from: string; to: string }[] = [];
  for (const [name, to] of Object.entries(targets)) {
    const from = join(workspace, name);
    if (await isFile(from)) found.push({ from, to });
  }
  const taken = new Set(Object.keys(targets));
  for (const name of await namesIn(join(workspace, "memory"))) {
    const from = join(workspace, "memory", name);
    if (!name.endsWith(".md") || taken.has(`memory/${name}`) || !(await isFile(from))) continue;
    found.push({ from, to: `memory/${basename(name)}` });
  }
  return found;
}
