import { ownNameOf } from "../../channels/platforms.js";
import { accountsOn } from "../../config/faults/account-name.js";
import { objectAt, textAt } from "../read-files.js";
import { isObject, type JsonObject } from "./json5.js";

/** One account of a channel there. */
export interface FoundAccount {
  /** As it is called there. Absent: the channel names no accounts. */
  readonly id?: string;
  /** As it is called here: the one that is the default there has the name of the channel. */
  readonly name: string;
  /** What the channel says for all of them, with what is said for this one. */
  readonly section: JsonObject;
}

/** The accounts of a channel, the default one first. `channel`: as it is called there. */
export function accountsOf(channel: string, { accounts, ...section }: JsonObject): readonly FoundAccount[] {
  const platform = ownNameOf(channel);
  const ids = isObject(accounts) ? Object.keys(accounts) : [];
  const chosen = textAt(section, "defaultAccount") ?? (ids.includes("default") ? "default" : ids[0]);
  if (chosen === undefined) return [{ name: platform, section }];
  const others = ids.filter((id) => id !== chosen);
  const names = accountsOn(platform, others);
  return [
    { id: chosen, name: platform, section: { ...section, ...objectAt(accounts, chosen) } },
    ...others.map((id, at) => ({ id, name: names[at] ?? "", section: { ...section, ...objectAt(accounts, id) } })),
  ];
}

/** Our names of all accounts, by `channel:account` as they are called there. */
export function accountNames(channels: JsonObject): ReadonlyMap<string, string> {
  const known = Object.entries(channels).flatMap(([channel, section]) =>
    isObject(section)
      ? accountsOf(channel, section).map(({ id = "", name }) => [`${channel}:${id}`, name] as const)
      : [],
  );
  return new Map(known);
}
