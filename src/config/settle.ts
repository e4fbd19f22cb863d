import { randomBytes } from "node:crypto";
import type { z } from "zod";
import { accountsIn, platformOf } from "../channels/platforms.js";
import { isSpelling, plain, suggest } from "../util/text/suggest.js";
import { problemSentence, readProblem } from "../util/words/problem-sentences.js";
import { accountMeant } from "./faults/account-name.js";
import { describe, expectation, titled } from "./faults/wording.js";
import { absentChannels, configSchema, configSchemaWith, silentKeys } from "./schema.js";
import { configKeys, keysAt } from "./shape.js";
import { isObject, type JsonObject, UndefinedVariable } from "./substitute.js";

/** A part of the config that does not run, because it is written wrongly. */
export interface OffSection {
  /** E.g. `channels.telegram`. */
  readonly section: string;
  readonly reason: string;
}

export interface Settled {
  readonly config: z.output<typeof configSchema>;
  readonly problems: readonly string[];
  readonly off: readonly OffSection[];
}

type Path = readonly PropertyKey[];

/**
 * Reads what can be read. An unknown key is left out and told. A wrong value turns off the channel, provider or MCP
 * server it is in; anywhere else that one key takes its default.
 */
export function settle(raw: JsonObject): Settled {
  const root: unknown = structuredCloneOf(raw);
  const problems: string[] = [];
  const off: OffSection[] = [];
  // Each round mends at least one place; the bound only guards against a mistake in here.
  for (let round = 0; round < 1000; round++) {
    // Read once: compiling a function for each of its objects takes longer than it saves.
    const parsed = configSchemaWith(accountsIn(at(root, ["channels"]))).safeParse(root, { jitless: true });
    if (parsed.success) return { config: parsed.data, problems, off };
    const [issue] = parsed.error.issues;
    if (issue === undefined) break;
    if (issue.code === "unrecognized_keys") {
      for (const key of issue.keys) mendKey(root, issue.path, key, problems);
    } else {
      mendValue(root, issue, problems, off);
    }
  }
  return { config: configSchema.parse({}), problems: [...problems, "the config could not be read at all"], off };
}

function mendKey(root: unknown, path: Path, key: string, problems: string[]): void {
  const parent = at(root, path);
  if (!isObject(parent)) return;
  const value = parent[key];
  remove(root, [...path, key]);
  if (isInPolicy(path)) {
    closeRules(root, problemSentence("unknown_key", { key: [...path, key].join(".") }), problems);
    return;
  }
  const known = keysAt(path) ?? [];
  // Go compares keys without regard to case, so its users' files may hold any spelling.
  const exact = known.find((candidate) => isSpelling(key, candidate));
  if (exact !== undefined) {
    if (!(exact in parent)) put(parent, exact, value);
    return;
  }
  const where = path.join(".");
  if (silentKeys[where]?.includes(key)) return;
  if (where === "channels" && absentChannels.includes(plain(key))) {
    if (isObject(value) && (value.enabled === true || value.enabled === "true"))
      problems.push(problemSentence("no_channel", { name: key, title: titled(key) }));
    return;
  }
  // It says the same again.
  if (path.length === 2 && path[0] === "channels" && key === "platform" && platformOf(String(path[1])) === value)
    return;
  const account = where === "channels" ? accountMeant(key, value) : undefined;
  if (account !== undefined) {
    problems.push(problemSentence("account_name", { name: key, near: account }));
    return;
  }
  const near = suggest(key, where === "channels" ? [...known, ...absentChannels] : known) ?? elsewhere(key);
  const unknown = { key: [...path, key].join(".") };
  if (near === undefined && where === "channels" && isObject(value)) {
    problems.push(problemSentence("no_platform", { name: key }));
    return;
  }
  problems.push(
    near === undefined
      ? problemSentence("unknown_ignored", unknown)
      : problemSentence("unknown_meant", { ...unknown, near }),
  );
}

/** What it means that a whole section cannot be used. */
const effects: Readonly<Record<string, "files_used" | "not_started">> = {
  storage: "files_used",
  engine: "not_started",
};

function mendValue(root: unknown, issue: z.core.$ZodIssue, problems: string[], off: OffSection[]): void {
  const key = issue.path.join(".");
  const found = at(root, issue.path);
  const finding =
    found instanceof UndefinedVariable
      ? problemSentence("no_variable", { key, names: found.names.map((name) => `\${${name}}`).join(" and ") })
      : problemSentence("expected", {
          key,
          wanted: expectation(issue),
          found: `${describe(found, key)}${meant(issue, found)}`,
        });
  const section = switchable(issue.path);
  if (section !== undefined) {
    const value = at(root, section);
    const isAsleep =
      section[0] === "channels" && isObject(value) && [undefined, false, "false"].some((no) => value.enabled === no);
    remove(root, section);
    if (isAsleep) return;
    // It cannot be opened without an address, and nothing else is.
    if (section[0] === "engine" && isObject(root)) put(root, "engine", { kind: "postgres" });
    const effect = effects[String(section[0])] ?? "part_off";
    problems.push(problemSentence(effect, { reason: finding, part: section.join(".") }));
    off.push({ section: section.join("."), reason: finding });
    return;
  }
  if (isInPolicy(issue.path) && issue.path[1] !== "answerSeconds" && issue.path[1] !== "passOnSeconds") {
    closeRules(root, finding, problems);
    return;
  }
  const firstEntry = issue.path.findIndex((part) => typeof part === "number");
  const unit = firstEntry === -1 ? issue.path : issue.path.slice(0, firstEntry);
  const isMissing = found === undefined;
  remove(root, isMissing ? unit.slice(0, -1) : unit);
  if (key === "gateway.token") {
    // Falling back to no token would open what was meant to be closed.
    const gateway = at(root, ["gateway"]);
    if (isObject(gateway)) put(gateway, "token", randomBytes(24).toString("hex"));
    problems.push(problemSentence("token_closed", { reason: finding }));
    return;
  }
  const part = unit.slice(0, -1).join(".");
  problems.push(problemSentence(isMissing ? "part_ignored" : "default_used", { reason: finding, part }));
}

/** A problem without what is done about it: for who refuses the config instead of mending it. */
export function findingIn(problem: string): string {
  const { code, values = {} } = readProblem(problem) ?? {};
  if (code === "unknown_ignored" || code === "unknown_meant") return problem.replace('" is ignored', '"');
  return values.reason ?? problem;
}

function isInPolicy(path: Path): boolean {
  return path[0] === "policy";
}

/** A rule without a part of it could allow more than it was meant to, and one that is left out could deny less. */
function closeRules(root: unknown, finding: string, problems: string[]): void {
  if (!isObject(root)) return;
  const policy = isObject(root.policy) ? root.policy : {};
  put(policy, "rules", [{ verdict: "ask" }]);
  put(root, "policy", policy);
  problems.push(problemSentence("rules_closed", { reason: finding }));
}

/** The channel, provider, MCP server, storage or engine that a path leads into. */
function switchable(path: Path): Path | undefined {
  const [first, second] = path;
  if ((first === "channels" || first === "providers") && path.length >= 2) return path.slice(0, 2);
  // Options of which one is wrong would lead to another storage.
  if (first === "storage") return path.slice(0, 1);
  // Messages that are accepted by another engine than the one that was meant would be seen by nobody.
  if (first === "engine") return path.slice(0, 1);
  if (first === "tools" && second === "mcpServers" && path.length >= 3) return path.slice(0, 3);
  return undefined;
}

function meant(issue: z.core.$ZodIssue, found: unknown): string {
  if (issue.code !== "invalid_value" || typeof found !== "string") return "";
  const near = suggest(found, issue.values.map(String));
  return near === undefined ? "" : ` (did you mean "${near}"?)`;
}

function elsewhere(key: string): string | undefined {
  const paths = configKeys().flatMap((path) => prefixes(path.split(".")));
  return paths.find((path) => plain(path.slice(path.lastIndexOf(".") + 1)) === plain(key));
}

function prefixes(parts: readonly string[]): readonly string[] {
  return parts.map((_, index) => parts.slice(0, index + 1).join("."));
}

function at(root: unknown, path: Path): unknown {
  let value = root;
  for (const part of path) {
    if (Array.isArray(value)) value = value[Number(part)];
    else if (isObject(value)) value = value[String(part)];
    else return undefined;
  }
  return value;
}

function remove(root: unknown, path: Path): void {
  const parent = at(root, path.slice(0, -1));
  if (isObject(parent)) Reflect.deleteProperty(parent, String(path.at(-1)));
}

function put(parent: JsonObject, key: string, value: unknown): void {
  Object.defineProperty(parent, key, { value, enumerable: true, configurable: true, writable: true });
}

function structuredCloneOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(structuredCloneOf);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, structuredCloneOf(entry)]));
}
