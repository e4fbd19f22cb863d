import { isRecord } from "../../../client/frames.js";
import { type Api, type JsonObject, recordsIn, textIn } from "../../gateway/api.js";
import { languageOfPage, saidIn } from "../../words/words.js";
import { inWords, labels } from "./labels.js";

/** One key of the config, as the gateway tells it. */
export interface Setting {
  readonly path: readonly string[];
  /** `gateway.port`. */
  readonly name: string;
  /** What people call it, in the language of the page. */
  readonly label: string;
  /** JSON schema of its value. */
  readonly schema: JsonObject;
  /** For people, in the language of the page. `code` is in backticks. */
  readonly meaning: string;
  readonly isSecret: boolean;
  readonly effect: "now" | "restart";
  readonly locked: "file" | "token" | undefined;
  readonly source: "file" | "environment" | "default";
  /** As the file says it; undefined where it says nothing. */
  readonly value: unknown;
  readonly variables: readonly { readonly name: string; readonly from: string }[];
  /** Whose setting it is, in the language of the page; absent for what is not of a channel. */
  readonly channel: { readonly title: string; readonly isOffered: boolean } | undefined;
}

export interface AllSettings {
  readonly file: { readonly path: string; readonly exists: boolean; readonly isReadOnly: boolean };
  /** Why the file cannot be read. There are no settings then. */
  readonly fault:
    | { readonly line: number | undefined; readonly column: number | undefined; readonly message: string }
    | undefined;
  readonly revision: string;
  readonly settings: readonly Setting[];
  readonly unknown: readonly { readonly name: string; readonly value: unknown }[];
  /** Names of settings that count from the next start on. */
  readonly restart: readonly string[];
  readonly problems: readonly string[];
}

/** Without a value and a text the key is taken out of the file. */
export interface Change {
  readonly path: readonly string[];
  readonly value?: unknown;
  /** JSON5. */
  readonly text?: string;
}

export async function readAll(api: Api): Promise<AllSettings> {
  return await toAll(await api.get("api/settings"));
}

/** Writes all of them or none. @throws {Refused} 412 when the file has changed meanwhile */
export async function writeChanges(api: Api, revision: string, changes: readonly Change[]): Promise<AllSettings> {
  const headers = { "if-match": `"${revision}"` };
  return await toAll(await api.put("api/settings", { changes }, { headers, timeoutMs: 30_000 }));
}

/** What is wrong with it in the file. */
export function problemOf(setting: Setting, { problems }: AllSettings): string | undefined {
  const { name } = setting;
  const problem = problems.find((one) => one.startsWith(`${name}: `) || one.startsWith(`${name}.`));
  return problem === undefined ? undefined : inWords(setting, problem);
}

async function toAll({ file, revision, settings, unknown, restart, problems }: JsonObject): Promise<AllSettings> {
  const told = isRecord(file) ? file : {};
  const meanings = languageOfPage() === "zh" ? (await import("./meanings-zh.js")).meanings : {};
  const { fault } = told;
  return {
    file: { path: textIn(told.path), exists: told.exists === true, isReadOnly: told.isReadOnly === true },
    fault: isRecord(fault)
      ? { line: numberIn(fault.line), column: numberIn(fault.column), message: textIn(fault.message) }
      : undefined,
    revision: textIn(revision),
    settings: recordsIn(settings).map((one) => toSetting(one, meanings)),
    unknown: recordsIn(unknown).map(({ path, value }) => ({ name: textsIn(path).join("."), value })),
    restart: textsIn(restart),
    problems: textsIn(problems),
  };
}

function toSetting(one: JsonObject, meanings: Readonly<Record<string, string>>): Setting {
  const path = textsIn(one.path);
  const name = path.join(".");
  const schema = isRecord(one.schema) ? one.schema : {};
  const channel = isRecord(one.channel) ? one.channel : undefined;
  const chinese = languageOfPage() === "zh" ? textIn(channel?.meaning) : "";
  return {
    path,
    name,
    label: channel === undefined ? (labels[name]?.[languageOfPage() === "zh" ? 1 : 0] ?? name) : saidIn(channel.label),
    schema,
    meaning: meanings[name] ?? (chinese || textIn(schema.description)),
    isSecret: one.isSecret === true,
    effect: one.effect === "now" ? "now" : "restart",
    locked: one.locked === "file" || one.locked === "token" ? one.locked : undefined,
    source: one.source === "file" || one.source === "environment" ? one.source : "default",
    value: one.value,
    variables: recordsIn(one.variables).map((variable) => ({
      name: textIn(variable.name),
      from: textIn(variable.from),
    })),
    channel:
      channel === undefined ? undefined : { title: saidIn(channel.title), isOffered: channel.isOffered === true },
  };
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

function numberIn(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
