import { guardedChannelKeys } from "../../channels/platforms.js";
import { RequestError } from "../../errors.js";
import { plain } from "../../util/text/suggest.js";
import type { ConfigEdit } from "../edit.js";
import { isSecretKey } from "../faults/wording.js";
import { isObject, type JsonObject } from "../substitute.js";
import { applied } from "./edits.js";
import { inside, isSame } from "./hide.js";

/**
 * What runs beside the sandbox, who commands, and what is free. Without a token every program on this machine can call,
 * a command that was given the network too: it must not open its own cage.
 */
const guarded = [
  "owners",
  "policy",
  "gateway",
  "storage",
  "mcpServers",
  "agents.defaults.workspace",
  "tools.exec",
  "tools.browser",
  "tools.mcpServers",
  "tools.web.fetch.allow",
  ...guardedChannelKeys(),
];
/** These may become stricter, or what they are by default. */
const strict = new Map<string, readonly unknown[]>([
  ["agents.defaults.executionMode", ["safe", "ask", undefined]],
  ["tools.restrictToWorkspace", [true, undefined]],
]);
/** Where secrets of the same section are sent. */
const destination = /^(apibase|apiroot|proxy|url|(imap|smtp)(host|port|usessl|usetls)|tlscafile|tokenurl|webhook)$/;

/** Why a key cannot be changed here whatever its value is: `file` names extensions, `token` who may call. */
export function lockOf(path: readonly string[], hasToken: boolean): "file" | "token" | undefined {
  if (plain(path[0] ?? "") === "extensions") return "file";
  return !hasToken && isGuarded(path) ? "token" : undefined;
}

/** The config is read without regard to how its keys are spelled. */
function isGuarded(path: readonly string[]): boolean {
  const read = path.map(plain).join(".");
  const isBelow = (one: string, other: string): boolean => one === other || one.startsWith(`${other}.`);
  return guarded.map(plainPath).some((each) => isBelow(read, each) || isBelow(each, read));
}

/** @throws {RequestError} 403 for what only the file can say, or only who has the token */
export function assertMayChange(edits: readonly ConfigEdit[], hasToken: boolean, file: string): void {
  for (const { path, value } of edits) {
    const name = path.join(".");
    if (lockOf(path, hasToken) === "file")
      throw forbidden(`Extensions run with the gateway's own rights: name them in ${file} itself.`);
    if (hasToken) continue;
    const read = path.map(plain).join(".");
    const isLoosened = [...strict].some(([key, values]) => plainPath(key) === read && !values.includes(value));
    // A variable may be any secret of the environment, and an address beside it anybody's.
    if (isGuarded(path) || isLoosened || /\$\{\w+\}/.test(JSON.stringify(value ?? null)))
      throw forbidden(
        `${name} can be changed here only where gateway.token is set, because any program on this machine could do it. Change it in ${file}.`,
      );
  }
}

/**
 * A secret that nobody has sent again goes to no other address than before.
 *
 * @throws {RequestError} 400 naming the setting
 */
export function assertSecretsStay(stored: JsonObject, edits: readonly ConfigEdit[]): void {
  const next = applied(stored, edits);
  for (const { path } of edits) {
    const index = path.findIndex((key) => destination.test(plain(key)));
    if (index === -1) continue;
    const section = path.slice(0, index);
    const [before, after] = [at(stored, section), at(next, section)];
    if (keepsSecret(before, after))
      throw new RequestError(
        `${path.join(".")}: the secrets of ${section.join(".")} were given for another address. Send them again with this one.`,
        { status: 400, code: "bad_request" },
      );
  }
}

function keepsSecret(before: unknown, after: unknown, isSecret = false): boolean {
  if (isSecret && before !== undefined && before !== "") {
    if (!isObject(before)) return isSame(before, after);
    return Object.keys(before).some((key) => keepsSecret(before[key], inside(after, key), true));
  }
  if (!isObject(before)) return false;
  return Object.entries(before).some(([key, value]) =>
    keepsSecret(value, inside(after, key), isSecretKey(key) || key === "headers" || key === "env"),
  );
}

function plainPath(path: string): string {
  return path.split(".").map(plain).join(".");
}

function at(root: unknown, path: readonly string[]): unknown {
  return path.reduce((value: unknown, key) => inside(value, key), root);
}

function forbidden(message: string): RequestError {
  return new RequestError(message, { status: 403, code: "forbidden" });
}
