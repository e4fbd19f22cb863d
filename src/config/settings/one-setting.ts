import { z } from "zod";
import { ConfigError } from "../../errors.js";
import { plain, suggest } from "../../util/text/suggest.js";
import { problemSentence } from "../../util/words/problem-sentences.js";
import type { ConfigEdit } from "../edit.js";
import { accountMeant } from "../faults/account-name.js";
import { describe, expectation, isSecretKey, titled } from "../faults/wording.js";
import { configOf } from "../load.js";
import { absentChannels } from "../schema.js";
import { findingIn } from "../settle.js";
import { keyAt, keysAt, schemaAt } from "../shape.js";
import { isObject, type JsonObject } from "../substitute.js";
import { applied } from "./edits.js";
import { inside } from "./hide.js";
import { isProviderKey, problemOfKeyAt } from "./typed-key.js";

interface Around {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * The path of a setting as people name it: `gateway.port`, `prices["gpt-5.6"].input`. Keys are spelled as in the file, else
 * as the config spells them.
 *
 * @throws {ConfigError} for a key that the config does not have, with the one that was probably meant
 */
export function settingPath(name: string, raw: JsonObject): readonly string[] {
  return spelledAsIn(raw, partsOf(name));
}

/** The same of a key that is to go: the file may have one that the config does not know. @throws {ConfigError} */
export function pathToRemove(name: string, raw: JsonObject): readonly string[] {
  const parts = partsOf(name);
  return parts.reduce<unknown>(inside, raw) === undefined ? spelledAsIn(raw, parts) : parts;
}

const quoted = String.raw`\["((?:[^"\\]|\\["\\])+)"\]`;
const word = String.raw`[^.[\]"]+`;
const wholeKey = new RegExp(`^(?:${word}|${quoted})(?:\\.${word}|${quoted})*$`);
const eachPart = new RegExp(`${quoted}|${word}`, "g");

function partsOf(name: string): readonly string[] {
  const parts = [...name.matchAll(eachPart)].map(([whole, text]) => text?.replace(/\\(.)/g, "$1") ?? whole);
  if (!wholeKey.test(name) || parts.includes("__proto__"))
    throw new ConfigError(`"${name}" is not a key. A key looks like gateway.port or prices["gpt-5.6"].input.`);
  return parts;
}

/** @throws {ConfigError} for a key that the config does not have, with the one that was probably meant */
export function spelledAsIn(raw: JsonObject, parts: readonly string[]): readonly string[] {
  const known: string[] = [];
  const written: string[] = [];
  let there: unknown = raw;
  for (const part of parts) {
    const keys = keysAt(known);
    const key = keys === undefined ? part : (keyAt(known, part) ?? unknownKey(known, part, keys));
    if (keys === undefined && schemaAt([...known, part]) === undefined)
      throw new ConfigError(`${known.join(".")} holds one value: it has no key "${part}".`);
    const own = isObject(there) ? Object.keys(there) : [];
    const spelled =
      own.find((each) => each === key) ?? own.find((each) => keys !== undefined && keyAt(known, each) === key);
    known.push(key);
    written.push(spelled ?? key);
    there = inside(there, spelled ?? key);
  }
  return written;
}

function unknownKey(known: readonly string[], part: string, keys: readonly string[]): string {
  if (known.length === 0 && part === "$schema") return part;
  const of = known.join(".");
  if (of === "channels" && absentChannels.includes(plain(part)))
    throw new ConfigError(`maxclaw has no ${titled(part)} channel yet. It has: ${keys.join(", ")}.`);
  const account = of === "channels" ? accountMeant(part) : undefined;
  if (account !== undefined)
    throw new ConfigError(`${problemSentence("account_name", { name: part, near: account })}.`);
  const near = suggest(part, keys);
  const hint = near === undefined ? `It can be: ${keys.join(", ")}.` : `Did you mean "${[...known, near].join(".")}"?`;
  throw new ConfigError(`The config has no key "${[...known, part].join(".")}". ${hint}`);
}

/**
 * The change that sets a key to what somebody has typed: JSON where the key takes that, else the text as it is.
 *
 * @throws {ConfigError} when the config would be invalid with it
 */
export async function settingFrom(
  raw: JsonObject,
  path: readonly string[],
  typed: string,
  around: Around,
): Promise<ConfigEdit> {
  const [first, ...others] = candidates(isProviderKey(path) ? typed.trim() : typed);
  for (const value of [first, ...others]) {
    if (faultOf(path, value) === undefined && (await addedProblems(raw, { path, value }, around)).length === 0)
      return { path, value };
  }
  const fault = faultOf(path, first);
  const findings = (await addedProblems(raw, { path, value: first }, around)).map(findingIn);
  const sentences = fault !== undefined || findings.length === 0 ? [fault ?? "It would be invalid"] : findings;
  throw new ConfigError(`Nothing was changed. ${sentences.join(". ")}.`);
}

/** @throws {ConfigError} when the config would be invalid without it */
export async function assertMayGo(raw: JsonObject, path: readonly string[], around: Around): Promise<void> {
  const found = await addedProblems(raw, { path }, around);
  if (found.length > 0) throw new ConfigError(`Nothing was changed. ${found.map(findingIn).join(". ")}.`);
}

/** A number that would be written in another way is a text, such as an id. */
function candidates(typed: string): readonly [unknown, ...unknown[]] {
  try {
    const value: unknown = JSON.parse(typed);
    return typeof value === "number" && String(value) !== typed ? [typed, value] : [value, typed];
  } catch {
    return [typed];
  }
}

/** What a key does not take, as half a sentence. Sections that are switched off are not checked with the whole. */
export function faultOf(path: readonly string[], value: unknown): string | undefined {
  if (typeof value === "string" && value.includes("${")) return undefined;
  const problem = problemOfKeyAt(path, value);
  if (problem !== undefined) return problem;
  const schema = schemaAt(path, false);
  if (!(schema instanceof z.ZodType)) return undefined;
  const [issue] = schema.safeParse(value).error?.issues ?? [];
  if (issue === undefined) return undefined;
  const key = [...path, ...issue.path].join(".");
  if (issue.code === "unrecognized_keys") return `unknown key "${key}.${issue.keys.join(", ")}"`;
  const found = issue.path.reduce<unknown>((inner, part) => inside(inner, String(part)), value);
  const example = issue.path.length === 0 ? exampleOf(issue, schema) : "";
  const near = issue.code === "invalid_value" ? suggest(String(found), issue.values.map(String)) : undefined;
  const meant = near === undefined ? "" : ` (did you mean "${near}"?)`;
  return `${key} takes ${expectation(issue)}${example}, not ${shown(found, key)}${meant}`;
}

/** As one types it: its default, else something of that kind. */
function exampleOf(issue: z.core.$ZodIssue, schema: z.ZodType): string {
  if (issue.code !== "invalid_type") return "";
  const usual: unknown = schema.safeParse(undefined).data;
  if (["number", "boolean"].includes(typeof usual)) return `, e.g. ${String(usual)}`;
  const example = examples[issue.expected];
  return example === undefined ? "" : `, e.g. ${example}`;
}

const examples: Readonly<Record<string, string>> = {
  number: "100",
  int: "100",
  array: `'["one", "two"]'`,
  object: `'{"name": "value"}'`,
  record: `'{"name": "value"}'`,
};

/** What somebody has typed, unless it may be a secret. */
function shown(value: unknown, key: string): string {
  const isPlain = typeof value === "string" && value !== "" && value.length <= 40 && !isSecretKey(key);
  return isPlain ? `the text "${value}"` : describe(value, key);
}

async function addedProblems(raw: JsonObject, edit: ConfigEdit, around: Around): Promise<readonly string[]> {
  const before = await configOf(raw, around);
  const after = await configOf(applied(raw, [edit]), around);
  return after.problems.filter((problem) => !before.problems.includes(problem));
}
