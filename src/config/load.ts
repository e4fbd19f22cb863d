import { randomBytes } from "node:crypto";
import { lstat, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { extname, join } from "node:path";
import { ConfigError, messageOf } from "../errors.js";
import { isGone } from "../util/error-code.js";
import { adviceOf, reasonOf } from "../util/files/system-fault.js";
import { problemSentence } from "../util/words/problem-sentences.js";
import { statusSentence } from "../util/words/status-sentences.js";
import { readJson } from "./document/json-walk.js";
import { type Fault, faultSentence, type Unusable } from "./faults/fault.js";
import { yamlFault } from "./faults/yaml.js";
import { findModeProblems } from "./file-modes.js";
import { type Interpreted, interpret } from "./interpret.js";
import { readText } from "./read-text.js";
import { isObject, type JsonObject } from "./substitute.js";

export interface LoadedConfig extends Interpreted {
  /** The file it came from; absent when there was none. */
  readonly path?: string;
  /** Set when the file could not be read: `config` is then all defaults, with every channel and provider off. */
  readonly unparsable?: Unusable & { readonly path: string };
}

export interface LoadOptions {
  readonly home: string;
  /** A file that must exist. Default: `config.json`, else `config.yaml`, in the home. */
  readonly configPath?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * The same from keys that are already there: variables are filled in from `env` and from the home's secrets, and
 * whatever is wrong becomes a problem in words.
 */
export async function configOf(raw: JsonObject, { home, env }: Omit<LoadOptions, "configPath">): Promise<LoadedConfig> {
  const secrets = await readSecrets(home);
  const result = interpret(raw, { home, homedir: env.HOME ?? homedir(), env, secrets: secrets.values });
  return { ...result, problems: [...secrets.problems, ...result.problems] };
}

/**
 * Reads the config and never writes it. Whatever is wrong in it becomes a problem in words, without any value that
 * may be secret; what is right still counts.
 *
 * @throws {ConfigError} only when `configPath` names no file
 */
export async function loadConfig({ home, configPath, env }: LoadOptions): Promise<LoadedConfig> {
  const secrets = await readSecrets(home);
  const around = { home, homedir: env.HOME ?? homedir(), env, secrets: secrets.values };
  const chosen = configPath === undefined ? await defaultFile(home) : { path: configPath, problems: [] };
  const { path } = chosen;
  const settled = async (raw: JsonObject): Promise<Interpreted> => {
    const result = interpret(raw, around);
    const text = JSON.stringify(raw);
    const holdsSecrets = result.secrets.some((secret) => text.includes(JSON.stringify(secret).slice(1, -1)));
    const config = path === undefined ? undefined : { path, holdsSecrets };
    const modes = await findModeProblems({ home, secrets: join(home, "secrets.json"), config });
    return { ...result, problems: [...modes, ...secrets.problems, ...chosen.problems, ...result.problems] };
  };
  if (path === undefined) return settled({});
  const content = await readConfigFile(path);
  if ("raw" in content) return { ...(await settled(content.raw)), path };
  if (content.fault === undefined) {
    if (configPath !== undefined) throw new ConfigError(`The config file ${path} does not exist. Check --config.`);
    return settled({});
  }
  // Without its token, what was meant to be closed would be open to everybody on this machine.
  const token = randomBytes(24).toString("hex");
  const closed = content.mayHaveToken ? { gateway: { token } } : {};
  // Without its database, messages would be accepted that the others of a cluster never see.
  const elsewhere = content.mayHaveDatabase ? { engine: { kind: "postgres" } } : {};
  const result = await settled({ ...closed, ...elsewhere });
  const effect = content.mayHaveDatabase
    ? "the gateway does not start, because its messages may be in a database"
    : `a gateway that starts has all channels off${result.config.gateway.token === token ? " and accepts no token" : ""}`;
  const problem = `${faultSentence(path, content.fault)}. Until it is corrected, ${effect}`;
  return { ...result, problems: [problem, ...result.problems], path, unparsable: { path, ...content.fault } };
}

async function defaultFile(home: string): Promise<{ readonly path?: string; readonly problems: readonly string[] }> {
  const json = join(home, "config.json");
  const yaml = join(home, "config.yaml");
  const [hasJson, hasYaml] = await Promise.all([exists(json), exists(yaml)]);
  if (hasJson && hasYaml && !(await isClosed(json)))
    return { path: json, problems: [problemSentence("two_files", { first: json, second: yaml })] };
  if (hasJson) return { path: json, problems: [] };
  return hasYaml ? { path: yaml, problems: [] } : { problems: [] };
}

async function exists(path: string): Promise<boolean> {
  // What this account may not look at may be there, and then it counts. So does a link to a disk that is not there yet.
  return await stat(path).then(
    () => true,
    async (error: unknown) => !isGone(error) || (await isLink(path)),
  );
}

async function isLink(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isSymbolicLink() === true;
}

/** Of two files that cannot be looked at nobody knows whether they are there. */
async function isClosed(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) === undefined;
}

type Content =
  | { readonly raw: JsonObject }
  | { readonly fault: Unusable | undefined; readonly mayHaveToken: boolean; readonly mayHaveDatabase: boolean };

/** A fault that is undefined means: no such file. */
async function readConfigFile(path: string, example = ", with keys such as providers and channels"): Promise<Content> {
  let text: string;
  try {
    text = await readText(path);
  } catch (error) {
    if (isGone(error)) {
      if (!(await isLink(path))) return { fault: undefined, mayHaveToken: false, mayHaveDatabase: false };
      const fault = { message: statusSentence("dead_link"), advice: "Mount it, or mend the link." };
      return { fault, mayHaveToken: true, mayHaveDatabase: false };
    }
    return { fault: { message: reasonOf(error), advice: adviceOf(error) }, mayHaveToken: true, mayHaveDatabase: false };
  }
  const may = { mayHaveToken: namesToken(text), mayHaveDatabase: namesDatabase(text) };
  // What is gone may have had one.
  if (text.trim() === "") {
    const fault = { line: 1, column: 1, message: "the file is empty (an empty one is {})" };
    return { fault, ...may, mayHaveToken: true };
  }
  const isYaml = [".yaml", ".yml"].includes(extname(path).toLowerCase());
  const parsed = isYaml ? await parseYaml(text) : parseJson(text);
  if ("fault" in parsed) return { ...parsed, ...may, mayHaveToken: may.mayHaveToken || isCut(text, isYaml) };
  if (isObject(parsed.value)) return { raw: parsed.value };
  const message = `an object is expected${example}`;
  return { fault: { line: 1, column: 1, message }, ...may };
}

/** As a full disk or a power cut leaves a file. A brace that somebody has forgotten has another one before it. */
function isCut(text: string, isYaml: boolean): boolean {
  return !(isYaml ? text.endsWith("\n") : text.trimEnd().endsWith("}"));
}

/** `gateway: { … token: …`, in JSON or YAML, however broken the rest is: no brace closes in between. */
function namesToken(text: string): boolean {
  const [, ...sections] = text.split(/\bgateway\b/i);
  return sections.some((section) => /\btoken\b/i.test(section.split("}", 1)[0] ?? ""));
}

/** `engine: { … kind: postgres …`, in the same way. */
function namesDatabase(text: string): boolean {
  const [, ...sections] = text.split(/\bengine\b/i);
  return sections.some((section) => /\bpostgres/i.test(section.split("}", 1)[0] ?? ""));
}

type Parsed = { readonly value: unknown } | { readonly fault: Fault };

function parseJson(text: string): Parsed {
  try {
    return { value: JSON.parse(text) };
  } catch {
    const tree = readJson(text);
    return "fault" in tree ? tree : { value: tree.root.value };
  }
}

async function parseYaml(text: string): Promise<Parsed> {
  const { parseDocument } = await import("yaml");
  const document = parseDocument(text, { prettyErrors: false });
  const fault = yamlFault(text, document);
  if (fault !== undefined) return { fault };
  try {
    return { value: document.toJS() };
  } catch (error) {
    const isMany = messageOf(error).includes("alias count");
    const message = isMany ? "it has too many aliases (*name)" : "an alias (*name) has no anchor (&name)";
    return { fault: { line: 1, column: 1, message } };
  }
}

/** What `secrets.json` has values for. */
export async function secretNames(home: string): Promise<ReadonlySet<string>> {
  return new Set(Object.keys((await readSecrets(home)).values));
}

interface Secrets {
  readonly values: Readonly<Record<string, string>>;
  readonly problems: readonly string[];
}

async function readSecrets(home: string): Promise<Secrets> {
  const path = join(home, "secrets.json");
  const problems: string[] = [];
  const values: Record<string, string> = {};
  const content = await readConfigFile(path, "");
  if ("fault" in content) {
    if (content.fault !== undefined) {
      problems.push(faultSentence(path, content.fault));
    }
    return { values, problems };
  }
  for (const [name, value] of Object.entries(content.raw)) {
    if (typeof value === "string") values[name] = value;
    else problems.push(`${path}: ${name} is left out, because it is not a text`);
  }
  return { values, problems };
}
