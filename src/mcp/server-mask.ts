import { createMask } from "../log/mask.js";
import type { McpServerSettings } from "./settings.js";

/** Takes the secrets of the config out of what a server says, and everything that was given to this server to keep. */
export function serverMask({ env, headers }: McpServerSettings, secrets: readonly string[]): (text: string) => string {
  const given = [...Object.values(env), ...Object.values(headers)].flatMap((value) => [
    value,
    ...value.split(/\s/, 2).slice(1),
  ]);
  // A path or a short word is not a secret, and says where to look.
  return createMask([...secrets, ...given.filter((value) => value.length >= 8 && !/^[./~]|^[A-Za-z]:\\/.test(value))]);
}
