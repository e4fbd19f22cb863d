import { isRecord } from "../../../../client/frames.js";
import type { JsonObject } from "../../../gateway/api.js";
import type { Change, Setting } from "../all-settings.js";
import { fieldWords } from "./words.js";

/** How a value is shown and typed. What no form fits is typed as it is in the file. */
export type FieldKind = "switch" | "number" | "choice" | "text" | "secret" | "list" | "map" | "json";

export function kindOf({ schema, isSecret, value }: Setting): FieldKind {
  const kind = kindIn(schema);
  if (isSecret) return kind === "map" || kind === "json" ? kind : "secret";
  // What is there in another shape, such as ${NAME}, is shown as it is.
  if (value === undefined) return kind;
  if (kind === "switch" && typeof value !== "boolean") return "text";
  if (kind === "number" && typeof value !== "number") return "text";
  if (kind === "choice" && !optionsIn(schema).includes(String(value))) return "text";
  if (kind === "text" && typeof value === "object") return "json";
  if (kind === "list" && !(Array.isArray(value) && value.every(isPlain))) return "json";
  if (kind === "map" && !(isRecord(value) && Object.values(value).every((one) => typeof one === "string")))
    return "json";
  return kind;
}

function kindIn(schema: JsonObject): FieldKind {
  const { type, items, additionalProperties, anyOf } = schema;
  if (type === "boolean") return "switch";
  if (type === "number" || type === "integer") return "number";
  if (optionsIn(schema).length > 0) return "choice";
  if (type === "string") return "text";
  if (Array.isArray(anyOf)) return anyOf.every(isPlainSchema) ? "text" : "json";
  if (type === "array") return isTextSchema(items) ? "list" : "json";
  if (type === "object" && isRecord(additionalProperties) && additionalProperties.type === "string") return "map";
  return "json";
}

export function optionsIn({ enum: options }: JsonObject): readonly string[] {
  return Array.isArray(options) ? options.map(String) : [];
}

function isPlainSchema(schema: unknown): boolean {
  return (
    isRecord(schema) && (["string", "number", "integer"].includes(String(schema.type)) || Array.isArray(schema.enum))
  );
}

function isTextSchema(schema: unknown): boolean {
  return (
    isRecord(schema) && (schema.type === "string" || (Array.isArray(schema.anyOf) && schema.anyOf.every(isPlainSchema)))
  );
}

function isPlain(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number";
}

/** What is in the field before anybody types. A secret is never there. */
export function textOf(setting: Setting): string {
  const { value, schema } = setting;
  const kind = kindOf(setting);
  if (kind === "secret") return "";
  if (kind === "switch") return String(value ?? schema.default ?? false);
  if (value === undefined) return "";
  if (kind === "list" && Array.isArray(value)) return value.map(String).join("\n");
  if (kind === "map" && isRecord(value))
    return Object.entries(value)
      .map(([name, one]) => `${name}: ${String(one)}`)
      .join("\n");
  return kind === "json" ? JSON.stringify(value, undefined, 2) : String(value);
}

/** Whether something in it is hidden. */
export function hasStars(value: unknown): boolean {
  return JSON.stringify(value ?? "").includes("********");
}

/** The default, for people; empty where there is none. */
export function defaultOf({ schema }: Setting): string {
  const { default: usual } = schema;
  if (usual === undefined || usual === "") return "";
  if (typeof usual === "boolean") return fieldWords.t(usual ? "on" : "off");
  if (typeof usual !== "object" || usual === null) return String(usual);
  return Object.keys(usual).length === 0 ? "" : JSON.stringify(usual);
}

/** What to write for a text that somebody has typed. An empty field is its default. @throws {Error} a sentence for people */
export function changeOf(setting: Setting, text: string): Change {
  const { path, schema } = setting;
  const { t } = fieldWords;
  const typed = text.trim();
  const kind = kindOf(setting);
  if (kind === "switch") return { path, value: text === "true" };
  if (typed === "") return { path };
  if (kind === "json") return { path, text };
  if (kind === "number" && !typed.startsWith("${")) {
    const value = Number(typed.replace(",", "."));
    if (!Number.isFinite(value)) throw new Error(t("notNumber"));
    return { path, value };
  }
  if (kind === "list") return { path, value: linesIn(typed) };
  if (kind === "map") return { path, value: pairsIn(typed) };
  const mayBeNumber = schema.type !== "string" && schema.enum === undefined && !setting.isSecret;
  return { path, value: mayBeNumber && /^\d+$/.test(typed) ? Number(typed) : typed };
}

function linesIn(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function pairsIn(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    linesIn(text).map((line) => {
      const [, name = "", value = ""] = /^([^:]+):\s*(.*)$/.exec(line) ?? [];
      if (name === "") throw new Error(fieldWords.t("notPair", { line }));
      return [name.trim(), value];
    }),
  );
}
