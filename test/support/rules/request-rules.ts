/** Anything that came out of `JSON.parse`, looked into field by field. */
export type Json = Readonly<Record<string, unknown>>;

/** What an API would refuse, each as `place: what is wrong`. Written against the APIs' documents, not against our code. */
export class Problems {
  readonly found: string[] = [];

  /** Notes the problem unless the rule holds. Returns whether it does. */
  must(holds: boolean, place: string, rule: string): boolean {
    if (!holds) this.found.push(`${place}: ${rule}`);
    return holds;
  }
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function objectOf(value: unknown): Json {
  return isObject(value) ? value : {};
}

/**
 * Whether there is a character in it that is neither whitespace nor invisible. Servers trim by their own language's
 * idea of whitespace, so the widest one counts.
 */
export function saysSomething(text: unknown): text is string {
  return typeof text === "string" && /[^\s\p{Cc}\p{Cf}\p{Z}]/u.test(text);
}

/**
 * The body as a strict server reads it. RFC 8259 leaves it to the server what half a surrogate pair is; both APIs refuse
 * the whole body: "The request body is not valid JSON: no low surrogate in string".
 */
export function parseStrictly(bodyText: string, problems: Problems): Json {
  const body: unknown = JSON.parse(bodyText);
  walk(body, "body", (text, place) => {
    problems.must(!/\p{Cs}/u.test(text), place, "half a surrogate pair");
  });
  problems.must(isObject(body), "body", "an object");
  return objectOf(body);
}

function walk(value: unknown, place: string, visit: (text: string, place: string) => void): void {
  if (typeof value === "string") visit(value, place);
  else if (Array.isArray(value)) for (const [index, inner] of value.entries()) walk(inner, `${place}[${index}]`, visit);
  else if (isObject(value))
    for (const [key, inner] of Object.entries(value)) {
      visit(key, `${place} (key)`);
      walk(inner, `${place}.${key}`, visit);
    }
}

/** Names of declared tools: of the right form, and each once. */
export function checkNames(names: readonly unknown[], place: string, problems: Problems): void {
  const seen = new Set<unknown>();
  names.forEach((name, index) => {
    problems.must(
      typeof name === "string" && toolName.test(name),
      `${place}[${index}]`,
      "a name of [a-zA-Z0-9_-]{1,64}",
    );
    problems.must(!seen.has(name), `${place}[${index}]`, "names are unique");
    seen.add(name);
  });
}

export const toolName = /^[a-zA-Z0-9_-]{1,64}$/;
