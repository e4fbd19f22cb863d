import type { SetUp, SetUpField } from "../channels/platform.js";
import { isPlatformName, type PlatformName, platformNames, setUpOf, titleOf } from "../channels/platforms.js";

/** Channels that are set up by asking. */
export const offeredChannels: readonly PlatformName[] = platformNames.filter((name) => setUpOf(name) !== undefined);

export type OfferedChannel = PlatformName;

/** The name of a channel that is set up by asking. */
export function offeredChannel(name: string): PlatformName | undefined {
  return offeredChannels.find((each) => each === name);
}

/** How a person there is named; undefined for what is not a channel. */
export function personOf(name: string): SetUp["person"] | undefined {
  return isPlatformName(name) ? setUpOf(name)?.person : undefined;
}

/** What the terminal asks about a channel. */
export function askedFields(name: PlatformName): readonly SetUpField[] {
  return (setUpOf(name)?.fields ?? []).filter(({ isMore }) => isMore !== true);
}

/** The name is that of a platform, or begins keys that are not a platform's. */
export function isReservedChannel(name: string): boolean {
  return isPlatformName(name) || ["webui", "cli", "system", "cron"].includes(name);
}

/** As its makers spell it. */
export function titleIn(name: PlatformName): string {
  return titleOf(name).en;
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
