import { guardedChannelKeys, platformOf } from "../../channels/platforms.js";
import { RequestError } from "../../errors.js";
import { plain } from "../../util/text/suggest.js";
import type { ConfigEdit } from "../edit.js";
import { isObject } from "../substitute.js";

/**
 * What runs beside the sandbox, who commands, and what is free. Without a token every program on this machine can call,
 * a command that was given the network too: it must not open its own cage.
 */
const guarded = [
  "owners",
  "policy",
  "gateway",
  "storage",
  "engine",
  "mcpServers",
  "agents.defaults.workspace",
  "tools.exec",
  "tools.browser",
  "tools.mcpServers",
  "tools.web.fetch.allow",
  "telemetry.otlpEndpoint",
  "telemetry.content",
  ...guardedChannelKeys(),
];
/** These may become stricter, or what they are by default. */
const strict = new Map<string, readonly unknown[]>([
  ["agents.defaults.executionMode", ["safe", "ask", undefined]],
  ["tools.restrictToWorkspace", [true, undefined]],
]);
/** Why a key cannot be changed here whatever its value is: `file` names extensions, `token` who may call. */
export function lockOf(path: readonly string[], hasToken: boolean): "file" | "token" | undefined {
  if (plain(path[0] ?? "") === "extensions") return "file";
  return !hasToken && isGuarded(path) ? "token" : undefined;
}

/** The config is read without regard to how its keys are spelled. */
function isGuarded(path: readonly string[]): boolean {
  const read = plainKeys(path);
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
    const leaves = leavesOf(path, value);
    const isLoosened = [...strict].some(([key, values]) =>
      leaves.some((leaf) => leaf.path === plainPath(key) && !values.includes(leaf.value)),
    );
    // A variable may be any secret of the environment, and an address beside it anybody's.
    if (
      isGuarded(path) ||
      leaves.some((leaf) => isGuarded(leaf.path.split("."))) ||
      isLoosened ||
      /\$\{\w+\}/.test(JSON.stringify(value ?? null))
    )
      throw forbidden(
        `${name} can be changed here only where gateway.token is set, because any program on this machine could do it. Change it in ${file}.`,
      );
  }
}

/** What a change says about each key below it, by plain names. */
function leavesOf(
  path: readonly string[],
  value: unknown,
): readonly { readonly path: string; readonly value: unknown }[] {
  if (!isObject(value) || Object.keys(value).length === 0) return [{ path: plainKeys(path), value }];
  return Object.entries(value).flatMap(([key, entry]) => leavesOf([...path, key], entry));
}

function plainPath(path: string): string {
  return plainKeys(path.split("."));
}

/** A further account is guarded as its platform is. */
function plainKeys([first = "", second, ...rest]: readonly string[]): string {
  const isChannel = plain(first) === "channels" && second !== undefined;
  const name = isChannel ? (platformOf(second) ?? second) : second;
  return [first, ...(name === undefined ? [] : [name]), ...rest].map(plain).join(".");
}

function forbidden(message: string): RequestError {
  return new RequestError(message, { status: 403, code: "forbidden" });
}
