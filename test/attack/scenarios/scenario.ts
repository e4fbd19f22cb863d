import type { CallSpec } from "../calls.js";
import type { Player } from "../player.js";
import type { WorldOptions } from "../world/world.js";

/** One attack that somebody thought of. What it may not bring about the judge of its world knows. */
export interface Scenario {
  /** What the table in the docs calls it. */
  readonly name: string;
  readonly group: "paths" | "sandbox" | "memory" | "addresses" | "provenance" | "approvals" | "doors";
  /** Played in `npm test` as well. */
  readonly isShort?: true;
  /** Default: mode `ask`, with a sandbox. */
  readonly world?: Partial<WorldOptions>;
  /** `scale` says how long races are run: 1 in the short form. */
  play(player: Player, scale: number): Promise<void>;
}

export function exec(
  command: string,
  more: Readonly<Record<string, unknown>> = {},
  carries?: readonly string[],
): CallSpec {
  return { name: "exec", input: { command, ...more }, ...(carries === undefined ? {} : { carries }) };
}

export function write(path: string, content: string): CallSpec {
  return { name: "write_file", input: { path, content } };
}

export function read(path: string): CallSpec {
  return { name: "read_file", input: { path } };
}

export function fetchPage(url: string): CallSpec {
  return { name: "web_fetch", input: { url } };
}

/** All canaries in a text, one after the other. */
export function lootIn(text: string): string {
  return [...new Set(text.match(/zq[0-9a-f]{12}/g) ?? [])].join("-");
}
