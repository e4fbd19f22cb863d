import { extname } from "node:path";
import { readJson } from "./document/json-walk.js";
import { isSecretKey } from "./faults/wording.js";
import { isObject } from "./substitute.js";

/** A config file without its secrets. */
export interface RedactedConfig {
  readonly text: string;
  /** The variables that are used instead of secrets, e.g. `MAXCLAW_PROVIDERS_OPENAI_APIKEY`. */
  readonly placeholders: readonly string[];
}

type Path = readonly (string | number)[];

/**
 * The text of a config in which each secret is a variable that is named after its place. Undefined when the text cannot
 * be parsed: then nobody can tell what in it is secret.
 */
export async function redactConfig(path: string, text: string): Promise<RedactedConfig | undefined> {
  const placeholders: string[] = [];
  const nameFor = (keys: Path): string => {
    const name = `MAXCLAW_${keys
      .join("_")
      .replaceAll(/[^A-Za-z0-9]+/g, "_")
      .toUpperCase()}`;
    placeholders.push(name);
    return `\${${name}}`;
  };
  if ([".yaml", ".yml"].includes(extname(path).toLowerCase())) {
    const { parseDocument, stringify } = await import("yaml");
    const document = parseDocument(text);
    if (document.errors.length > 0) return undefined;
    const value: unknown = document.toJS();
    const secrets = [...secretsIn(value)];
    for (const keys of secrets) put(value, keys, nameFor(keys));
    // A comment may hold a key too, and nobody can tell.
    return { text: secrets.length === 0 && !text.includes("#") ? text : stringify(value), placeholders };
  }
  const tree = readJson(text.replace(/^\uFEFF/, ""));
  if ("fault" in tree) return undefined;
  const { value } = tree.root;
  const secrets = [...secretsIn(value)];
  for (const keys of secrets) put(value, keys, nameFor(keys));
  // As it is where nothing has to be replaced; but nobody can tell what a comment holds.
  const isKept = secrets.length === 0 && tree.comments.length === 0;
  return { text: isKept ? text : `${JSON.stringify(value, undefined, 2)}\n`, placeholders };
}

/** Where secrets are written out. */
function* secretsIn(value: unknown, path: Path = [], isSecret = false): Generator<Path> {
  if (typeof value === "string" || typeof value === "number") {
    const isWritten = typeof value === "number" || !/^\s*(\$\{\w+\})?\s*$/.test(value);
    const hasPassword = typeof value === "string" && /:\/\/[^/\s@]*:[^/\s@]+@/.test(value);
    if ((isSecret && isWritten) || hasPassword) yield path;
    return;
  }
  if (Array.isArray(value))
    for (const [index, entry] of value.entries()) yield* secretsIn(entry, [...path, index], isSecret);
  if (!isObject(value)) return;
  for (const [key, entry] of Object.entries(value)) {
    const hides = isSecretKey(key) || key === "headers" || key === "env";
    yield* secretsIn(entry, [...path, key], isSecret || hides);
  }
}

function put(root: unknown, path: Path, text: string): void {
  const parent = path.slice(0, -1).reduce((value: unknown, key) => Reflect.get(Object(value), key), root);
  Reflect.set(Object(parent), path.at(-1) ?? "", text);
}
