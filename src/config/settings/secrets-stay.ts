import { isAccountName } from "../../channels/platforms.js";
import { RequestError } from "../../errors.js";
import { plain } from "../../util/text/suggest.js";
import type { ConfigEdit } from "../edit.js";
import { isSecretKey } from "../faults/wording.js";
import { keysAt } from "../shape.js";
import { isObject, type JsonObject } from "../substitute.js";
import { applied } from "./edits.js";
import { inside, isSame } from "./hide.js";

/** Where secrets of the same section are sent, by the plain name of the key. */
const destination =
  /^(apibase|apiroot|tokenroot|proxy|url|wsurl|bridgeurl|homeserver|service|otlpendpoint|endpoint|(imap|smtp)(host|port|usessl|usetls)|tlscafile|tokenurl|webhook)$/;

export function isDestination(key: string): boolean {
  return destination.test(plain(key));
}

/**
 * A secret that nobody has sent again goes to no other address than before. The files before and after are compared as a
 * whole, because one change may hold an address and its secret.
 *
 * @throws {RequestError} 400 naming the setting
 */
export function assertSecretsStay(stored: JsonObject, edits: readonly ConfigEdit[]): void {
  const found = redirected(plainly(stored), plainly(applied(stored, edits)), []);
  if (found === undefined) return;
  const isConcerned = ({ path }: ConfigEdit): boolean =>
    found.section.every((key, index) => index >= path.length || isNamed(path[index] ?? "", key));
  const { path = [] } = edits.find(isConcerned) ?? {};
  const section = spelled(found.section, path);
  const name = spelled([...found.section, found.key], path);
  throw new RequestError(
    `${name.join(".")}: the secrets of ${section.join(".")} were given for another address. Send them again with this one.`,
    { status: 400, code: "bad_request" },
  );
}

/** As the change spells it, and below that as the config does. */
function spelled(names: readonly string[], path: readonly string[]): readonly string[] {
  return names.map((name, index) => {
    if (isNamed(path[index] ?? "", name)) return path[index] ?? name;
    return keysAt(names.slice(0, index))?.find((key) => plain(key) === name) ?? name;
  });
}

function isNamed(key: string, name: string): boolean {
  return key === name || plain(key) === name;
}

interface Redirected {
  readonly section: readonly string[];
  readonly key: string;
}

/** The first section that keeps a secret and has another address than before. */
function redirected(before: unknown, after: unknown, section: readonly string[]): Redirected | undefined {
  if (!isObject(before) || !isObject(after)) return undefined;
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const key = keys.find((one) => destination.test(one) && !isSame(inside(before, one), inside(after, one)));
  if (key !== undefined && keepsSecret(before, after)) return { section, key };
  for (const [name, value] of Object.entries(before)) {
    const deeper = redirected(value, inside(after, name), [...section, name]);
    if (deeper !== undefined) return deeper;
  }
  return undefined;
}

function keepsSecret(before: unknown, after: unknown, isSecret = false): boolean {
  if (isObject(before))
    return Object.entries(before).some(([key, value]) =>
      keepsSecret(value, inside(after, key), isSecret || isSecretKey(key) || key === "headers" || key === "env"),
    );
  return isSecret && before !== undefined && before !== null && before !== "" && isSame(before, after);
}

/**
 * With plain names, because the config is read without regard to how its keys are spelled; lists by their places. Names of
 * further accounts count as they are spelled: `slack-a-b` is not `slack-ab`.
 */
function plainly(value: unknown): unknown {
  if (Array.isArray(value)) return plainly(Object.fromEntries(value.entries()));
  if (!isObject(value)) return value;
  const read = new Map<string, unknown>();
  for (const [key, entry] of Object.entries(value)) {
    const [name, one] = [isAccountName(key) ? key : plain(key), plainly(entry)];
    const other = read.get(name);
    if (other === undefined) read.set(name, one);
    else read.set(name, isObject(other) && isObject(one) ? { ...other, ...one } : { first: other, second: one });
  }
  return Object.fromEntries(read);
}
