import { RequestError } from "../../errors.js";
import type { ConfigEdit } from "../edit.js";
import { isObject, type JsonObject } from "../substitute.js";
import { hasHidden, inside, isSame, withSecrets } from "./hide.js";

/** Sections whose keys are names that people gave: one that is not sent any more is taken away. */
const lists = new Set(["providers", "prices", "mcpServers", "tools.mcpServers"]);
const forbidden = new Set(["__proto__", "constructor", "prototype"]);
const maxDepth = 20;

/**
 * What has to change in a file that is shown as `shown` so that it says what was sent. What was not sent stays, and so does
 * what came back as it was shown: secrets, defaults and keys that nobody knows. `null` takes a key away.
 *
 * @throws {RequestError} 400 for a secret that is nowhere, and for keys that no config has
 */
export function editsFor(shown: JsonObject, stored: JsonObject, sent: JsonObject): readonly ConfigEdit[] {
  const edits: ConfigEdit[] = [];
  const compare = (path: readonly string[], before: unknown, kept: unknown, now: unknown): void => {
    assertSettable(path);
    if (isSame(now, before)) return;
    if (now === null) {
      if (kept !== undefined) edits.push({ path });
      return;
    }
    if (isObject(now) && (before === undefined || isObject(before)) && Object.keys(now).length > 0) {
      for (const [name, value] of Object.entries(now))
        compare([...path, name], inside(before, name), inside(kept, name), value);
      if (lists.has(path.join("."))) edits.push(...removed(path, kept, now));
      return;
    }
    if (isObject(now) && lists.has(path.join("."))) {
      edits.push(...removed(path, kept, now));
      return;
    }
    // An empty object says nothing about what is in it.
    if (isObject(now) && before !== undefined) return;
    const value = withSecrets(now, before, kept);
    if (hasHidden(value))
      throw wrong(`${path.join(".")}: no secret is stored here that the stars could mean. Send the secret itself.`);
    edits.push({ path, value });
  };
  for (const [name, value] of Object.entries(sent)) compare([name], inside(shown, name), inside(stored, name), value);
  return edits;
}

/** @throws {RequestError} 400 for a path that no config has, whatever its names may be */
export function assertSettable(path: readonly string[]): void {
  if (path.length === 0 || path.length > maxDepth || path.some((key) => forbidden.has(key)))
    throw wrong(`${path.join(".")} is not a setting.`);
}

/** The same on a copy, to see what it would mean. */
export function applied(stored: JsonObject, edits: readonly ConfigEdit[]): JsonObject {
  const root: JsonObject = structuredClone(stored);
  for (const { path, value } of edits) {
    let parent: object = root;
    for (const name of path.slice(0, -1)) {
      const next = inside(parent, name) ?? {};
      if (!isObject(next)) throw wrong(`${path.join(".")}: ${name} is not an object in the config file.`);
      Reflect.set(parent, name, next);
      parent = next;
    }
    const key = path.at(-1) ?? "";
    if (value === undefined) Reflect.deleteProperty(parent, key);
    else Reflect.set(parent, key, value);
  }
  return root;
}

function removed(path: readonly string[], stored: unknown, sent: JsonObject): readonly ConfigEdit[] {
  if (!isObject(stored)) return [];
  return Object.keys(stored).flatMap((name) => (Object.hasOwn(sent, name) ? [] : [{ path: [...path, name] }]));
}

function wrong(message: string): RequestError {
  return new RequestError(message, { status: 400, code: "bad_request" });
}
