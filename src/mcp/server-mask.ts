import { createMask } from "../log/mask.js";
import type { McpServerSettings } from "./settings.js";

/** Takes the secrets of the config out of what a server says, and everything that was given to this server to keep. */
export function serverMask(settings: McpServerSettings, secrets: readonly string[]): (text: string) => string {
  return createMask(secretsFor(settings, secrets));
}

export function secretsFor({ env, headers }: McpServerSettings, secrets: readonly string[]): readonly string[] {
  const given = [...Object.values(env), ...Object.values(headers)].flatMap((value) => [
    value,
    ...value.split(/\s/, 2).slice(1),
  ]);
  // A path or a short word is not a secret, and says where to look.
  return [...secrets, ...given.filter((value) => value.length >= 8 && !/^[./~]|^[A-Za-z]:\\/.test(value))];
}
