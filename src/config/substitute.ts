/** Replaces a text that named variables which nothing defines. Fails every check, so that its section is told. */
export class UndefinedVariable {
  readonly names: readonly string[];

  constructor(names: readonly string[]) {
    this.names = names;
  }
}

/** A plain JSON object. */
export type JsonObject = { readonly [key: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof UndefinedVariable);
}

/**
 * A copy of a JSON value in which each `${NAME}` is replaced by what `lookup` knows, and `$${NAME}` by the plain text
 * `${NAME}`. Keys that are null are left out: the Go maxclaw wrote null for what was never set.
 */
export function substitute(value: unknown, lookup: (name: string) => string | undefined): unknown {
  if (typeof value === "string") return substituteText(value, lookup);
  if (Array.isArray(value)) return value.map((entry) => substitute(entry, lookup));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([, entry]) => entry !== null);
  return Object.fromEntries(entries.map(([key, entry]) => [key, substitute(entry, lookup)]));
}

function substituteText(text: string, lookup: (name: string) => string | undefined): string | UndefinedVariable {
  const missing: string[] = [];
  const result = text.replaceAll(/(\$?)\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (whole, dollar: string, name: string) => {
    if (dollar !== "") return whole.slice(1);
    const found = lookup(name);
    if (found === undefined) missing.push(name);
    return found ?? "";
  });
  return missing.length === 0 ? result : new UndefinedVariable(missing);
}
