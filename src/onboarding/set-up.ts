import type { SetUp, SetUpField } from "../channels/platform.js";
import { accountsIn, platformNames, platformOf, setUpOf, titleOf } from "../channels/platforms.js";

/** Channels that are set up by asking. */
export const offeredChannels: readonly string[] = platformNames.filter((name) => setUpOf(name) !== undefined);

/** It is set up by asking: a platform, or a further account there such as `slack-acme`. */
export function isOffered(name: string): boolean {
  return setUpOf(name) !== undefined;
}

/** These, and the further accounts that are in the sections of a config. */
export function offeredWith(sections: unknown): readonly string[] {
  return [...offeredChannels, ...accountsIn(sections)];
}

/** Of a channel: itself, or what a further account is on. */
export function platformIn(name: string): string | undefined {
  return platformOf(name);
}

/** How a person there is named; undefined for what is not a channel. */
export function personOf(name: string): SetUp["person"] | undefined {
  return setUpOf(name)?.person;
}

/** What the terminal asks about a channel. */
export function askedFields(name: string): readonly SetUpField[] {
  return (setUpOf(name)?.fields ?? []).filter(({ isMore }) => isMore !== true);
}

/** The name is that of a platform or of an account there, or begins keys that are not a platform's. */
export function isReservedChannel(name: string): boolean {
  return platformOf(name) !== undefined || ["webui", "cli", "system", "cron"].includes(name);
}

/** As its makers spell it. */
export function titleIn(name: string): string {
  return titleOf(name)?.en ?? name;
}

/** What was typed, as keys of the section with their values. */
export function settingsFor(field: SetUpField, typed: string): readonly (readonly [string, unknown])[] {
  const { kind, key, sets = [key], port } = field;
  const all = (value: unknown): readonly (readonly [string, unknown])[] => sets.map((each) => [each, value]);
  if (kind === "consent") return all(typed === "yes");
  if (kind === "ids") return all(typed.split(/[\s,;]+/).filter((id) => id !== ""));
  if (kind !== "server") return all(typed);
  const [host = "", at] = typed.split(":");
  if (at === undefined || port === undefined) return all(host);
  const tls: readonly (readonly [string, unknown])[] = port.tlsKey === undefined ? [] : [[port.tlsKey, at === "465"]];
  return [...all(host), [port.key, Number(at)], ...tls];
}
