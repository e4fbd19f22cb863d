import { isObject } from "../substitute.js";

/** Used instead of a secret. Anyone who sends it back leaves the secret as it is. */
export const hidden = "********";

const words = "key|token|secret|password|passphrase|pass_phrase|sig|signature|credential|cookie";
/** Values of addresses and of arguments that are named like a secret: `?api_key=…`, `--token=…`. */
const named = new RegExp(String.raw`((?:[?&#]|^--?)[\w-]*(?:${words})=)[^&#\s]+`, "gi");
const login = /\b((?:Bearer|Basic) )\S+/gi;
const header = /^((?:--header|-H)=?)(?!$).+$/s;
const password = /(:\/\/[^/\s:@]*:)[^/\s@]+(?=@)/g;
const nextIsSecret = new RegExp(String.raw`^(?:-H|--?header|--?[\w-]*(?:${words}))$`, "i");
const secretName = new RegExp(`(?:${words})$`, "i");
const variable = /^\s*(?:\$\{\w+\})?\s*$/;

/** A copy without secrets; `${NAME}` stays. @param secrets values that are secret wherever they occur */
export function withoutSecrets(value: unknown, secrets: readonly string[]): unknown {
  const ordered = [...secrets].sort((a, b) => b.length - a.length);
  const hideText = (text: string): string => {
    let shown = text;
    for (const secret of ordered) shown = shown.replaceAll(secret, hidden);
    return shown
      .replace(password, `$1${hidden}`)
      .replace(named, `$1${hidden}`)
      .replace(login, `$1${hidden}`)
      .replace(header, `$1${hidden}`);
  };
  const hide = (one: unknown, isSecret: boolean): unknown => {
    if (typeof one === "string") {
      if (variable.test(one)) return one;
      return isSecret ? hidden : hideText(one);
    }
    if (typeof one === "number") return isSecret ? hidden : one;
    if (Array.isArray(one))
      return one.map((entry, index) => hide(entry, isSecret || nextIsSecret.test(String(one[index - 1] ?? ""))));
    if (!isObject(one)) return one;
    return Object.fromEntries(
      Object.entries(one).map(([key, entry]) => [
        key,
        hide(entry, isSecret || secretName.test(key) || key === "headers" || key === "env"),
      ]),
    );
  };
  return hide(value, false);
}

/** True where a secret's place is still empty. */
export function hasHidden(value: unknown): boolean {
  if (typeof value === "string") return value.includes(hidden);
  if (Array.isArray(value)) return value.some(hasHidden);
  return isObject(value) && Object.values(value).some(hasHidden);
}

/** What was sent with each secret in its place again that came back as it was shown. */
export function withSecrets(sent: unknown, shown: unknown, stored: unknown): unknown {
  if (stored !== undefined && isSame(sent, shown)) return stored;
  if (Array.isArray(sent)) {
    const [before, kept] = [Array.isArray(shown) ? shown : [], Array.isArray(stored) ? stored : []];
    return sent.map((entry, index) => withSecrets(entry, before[index], kept[index]));
  }
  if (!isObject(sent)) return sent;
  return Object.fromEntries(
    Object.entries(sent).map(([key, entry]) => [key, withSecrets(entry, inside(shown, key), inside(stored, key))]),
  );
}

export function inside(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

export function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((entry, index) => isSame(entry, other[index]));
  if (!isObject(one) || !isObject(other)) return one === other;
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...keys].every((key) => isSame(inside(one, key), inside(other, key)));
}
