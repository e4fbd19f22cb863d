import { realpath, stat } from "node:fs/promises";
import { dirname, extname } from "node:path";
import { ConfigError, messageOf } from "../errors.js";
import { codeOf, isMissing } from "../util/error-code.js";
import { makeFolder } from "../util/files/make-folder.js";
import { replaceFile } from "../util/files/replace-file.js";
import { systemSentence } from "../util/files/system-fault.js";
import { Claim } from "../util/processes/claim.js";
import { NotAnObject, withValue } from "./document/json-edit.js";
import { readJson } from "./document/json-walk.js";
import { faultSentence } from "./faults/fault.js";
import { readText } from "./read-text.js";
import { isObject } from "./substitute.js";

/** One key of a config file; without a value it is taken away. */
export interface ConfigEdit {
  readonly path: readonly string[];
  readonly value?: unknown;
}

/** Makes all of these changes, or none. */
export type Edit = (edits: readonly ConfigEdit[]) => Promise<void>;

/** Longer than a change takes on the slowest disk. */
const longestChangeMs = 10_000;

/**
 * Changes single keys of a config file, or makes the file. Everything else keeps its value and its order, variables such
 * as `${NAME}` and comments included. The new file replaces the old one as a whole, readable by its owner only.
 *
 * @throws {ConfigError} when the file cannot be understood, or not be written again without loss; it is left alone then
 */
export async function editConfig(file: string, edits: readonly ConfigEdit[]): Promise<void> {
  await inTurn(file, (edit) => edit(edits));
}

/**
 * For a change that is made from what the file holds: of all processes that do this, one has the file at a time, from
 * before it reads until it has written. `edit` is as {@link editConfig}.
 */
export async function inTurn<T>(file: string, work: (edit: Edit) => Promise<T>): Promise<T> {
  if (await isReadOnly(file))
    throw new ConfigError(`${file} is read-only, so it was left unchanged. Allow writing with: chmod u+w ${file}`);
  await makeFolder(dirname(file));
  await using claim = await claimOf(file);
  return await work(async (edits) => {
    const changed = await textWith(file, edits);
    if (!(await claim.isHeld()))
      throw new ConfigError(`Another process is changing ${file}. Nothing was changed here: try again.`);
    await replaceFile(file, changed, { mode: 0o600 });
  });
}

async function claimOf(file: string): Promise<Claim> {
  const real = await realpath(file).catch(() => file);
  const lock = `${real}.lock`;
  try {
    return await Claim.wait(lock, longestChangeMs);
  } catch (error) {
    // People know the file, not the one beside it; where there is no right, it is to a new name in the folder.
    const code = codeOf(error) ?? "";
    const isLock = ["EISDIR", "ELOOP", "ENXIO"].includes(code);
    const isRight = ["EACCES", "EPERM"].includes(code);
    if (error instanceof Error && "syscall" in error)
      Object.assign(error, { path: isLock ? lock : isRight ? dirname(real) : file });
    throw error;
  }
}

async function textWith(file: string, edits: readonly ConfigEdit[]): Promise<string> {
  const text = await textIn(file);
  const isYaml = [".yaml", ".yml"].includes(extname(file).toLowerCase());
  return isYaml ? await editYaml(file, text ?? "", edits) : editJson(file, text ?? "{}", edits);
}

/** True where its owner has taken the right to write from everybody. A new file in its place would not ask for that right. */
export async function isReadOnly(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  return found !== undefined && (found.mode & 0o222) === 0;
}

/** What is at a path of a config file as it is written; undefined where there is nothing. */
export async function readRaw(file: string, path: readonly string[]): Promise<unknown> {
  const text = (await textIn(file)) ?? "{}";
  if (![".yaml", ".yml"].includes(extname(file).toLowerCase())) return at(parseJson(file, text), path);
  const { parse } = await import("yaml");
  return at(parse(text), path);
}

async function textIn(file: string): Promise<string | undefined> {
  try {
    return await readText(file);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw new ConfigError(systemSentence(error) ?? `${file} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

function parseJson(file: string, text: string): object {
  const tree = readJson(text);
  if ("fault" in tree) {
    throw new ConfigError(`${faultSentence(file, tree.fault)}. It was left unchanged.`);
  }
  const { value } = tree.root;
  if (!isObject(value)) throw new ConfigError(`${file} is not an object. It was left unchanged.`);
  return value;
}

function editJson(file: string, text: string, edits: readonly ConfigEdit[]): string {
  parseJson(file, text);
  try {
    const changed = edits.reduce((now, { path, value }) => withValue(now, path, value), text);
    return changed.endsWith("\n") ? changed : `${changed}\n`;
  } catch (error) {
    if (!(error instanceof NotAnObject)) throw error;
    throw new ConfigError(`${file}: ${error.message}. It was left unchanged.`, { cause: error });
  }
}

async function editYaml(file: string, text: string, edits: readonly ConfigEdit[]): Promise<string> {
  const { changedYaml } = await import("./document/yaml-edit.js");
  try {
    const changed = changedYaml(text, edits);
    if ("text" in changed) return changed.text;
    throw new ConfigError(`${faultSentence(file, changed.fault)}. It was left unchanged.`);
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause;
    throw new ConfigError(`${file} cannot be changed there: ${messageOf(cause)}. It was left unchanged.`, { cause });
  }
}

function at(root: unknown, path: readonly string[]): unknown {
  return path.reduce((value, key) => (isObject(value) ? value[key] : undefined), root);
}
