import { keyAt } from "../shape.js";
import { isObject } from "../substitute.js";

/** What is wrong with a provider's key as somebody has typed it; undefined where nothing is. Blanks around it do not count. */
export function problemOfKey(typed: string): string | undefined {
  return /\s/.test(typed.trim())
    ? "A key has no spaces or line breaks inside. Copy it again, and nothing else"
    : undefined;
}

/** The same of a value that is to be at a path of the config, as it is or with the keys of providers in it. */
export function problemOfKeyAt(path: readonly string[], value: unknown): string | undefined {
  if (isProviderKey(path)) {
    const problem = typeof value === "string" ? problemOfKey(value) : undefined;
    return problem === undefined ? undefined : `${path.join(".")} cannot be that: ${problem}`;
  }
  if (path[0] !== "providers" || path.length > 2 || !isObject(value)) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const problem = problemOfKeyAt([...path, key], inner);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

export function isProviderKey(path: readonly string[]): boolean {
  const [section, , key] = path;
  return section === "providers" && path.length === 3 && keyAt(path.slice(0, 2), key ?? "") === "apiKey";
}
