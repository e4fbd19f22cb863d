import { isAccountName, isPlatformName, longestName, platformOf } from "../../channels/platforms.js";
import { isObject } from "../substitute.js";

/**
 * How a key of `channels` that nobody knows would be a further account: `slack-acme` for `Slack_Acme`, `telegram-2` for
 * `telegram2`, and for `acme` when its section says `"platform": "slack"`. Undefined: nothing says that it is one.
 */
export function accountMeant(key: string, section?: unknown): string | undefined {
  const words = wordsIn(key);
  const platform = isObject(section) && typeof section.platform === "string" ? section.platform : "";
  return (
    [words, words.replace(/(?<!\d)(\d+)$/, "-$1")].find(isAccountName) ??
    (isPlatformName(platform) ? accountsOn(platform, [key])[0] : undefined)
  );
}

/**
 * The names of further accounts on this platform, which others call by these ids: `slack-acme`, or the next free one from
 * `slack-2` on where the id cannot be part of a name or is there twice.
 */
export function accountsOn(platform: string, ids: readonly string[]): readonly string[] {
  const names = ids.map((id) => `${platform}-${wordsIn(id)}`);
  const taken = new Set(names);
  const isGood = (name: string): boolean => isAccountName(name) && platformOf(name) === platform;
  return names.map((name, at) =>
    isGood(name) && names.indexOf(name) === at ? name : numbered(platform, at + 2, taken),
  );
}

function numbered(platform: string, from: number, taken: Set<string>): string {
  let n = from;
  while (taken.has(`${platform}-${n}`)) n += 1;
  taken.add(`${platform}-${n}`);
  return `${platform}-${n}`;
}

function wordsIn(key: string): string {
  return key
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, longestName)
    .replaceAll(/^-|-$/g, "");
}
