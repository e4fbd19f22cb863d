import type { z } from "zod";
import type { Shape } from "../bus/replies.js";
import { discordPlatform } from "./discord/platform.js";
import { emailPlatform } from "./email/platform.js";
import type { OpenedPlatform, Platform, PlatformScope } from "./platform.js";
import { telegramPlatform } from "./telegram/platform.js";
import { websocketPlatform } from "./websocket/platform.js";

/** All platforms. A new one has a folder of its own, and its line here. */
const all = {
  telegram: telegramPlatform,
  discord: discordPlatform,
  email: emailPlatform,
  websocket: websocketPlatform,
};

export type PlatformName = keyof typeof all;
/** The sections of the config by the names of their platforms. */
type Sections = { readonly [K in PlatformName]: z.output<(typeof all)[K]["section"]> };
type SomeSections = { readonly [K in PlatformName]?: Sections[K] | undefined };

const platforms: { readonly [K in PlatformName]: Platform<Sections[K]> } = all;

// The keys are written above, in one place.
export const platformNames = Object.keys(all) as readonly PlatformName[];

export function isPlatformName(name: string): name is PlatformName {
  return Object.hasOwn(all, name);
}

/** The section of each platform, for the schema of the config. */
export function channelSections(): { readonly [K in PlatformName]: z.ZodOptional<z.ZodType<Sections[K]>> } {
  const sections = platformNames.map((name) => [name, all[name].section.optional()]);
  // The same names, each with its own section.
  return Object.fromEntries(sections) as { readonly [K in PlatformName]: z.ZodOptional<z.ZodType<Sections[K]>> };
}

/** Keys of the config that only the file, or who has the gateway's token, may change. */
export function guardedChannelKeys(): readonly string[] {
  return platformNames.flatMap((name) => (platforms[name].guarded ?? []).map((key) => `channels.${name}.${key}`));
}

/** What a channel that is switched on cannot do without, as a sentence. */
export function whatLacks<K extends PlatformName>(name: K, sections: SomeSections): string | undefined {
  const section: Sections[K] | undefined = sections[name];
  return section === undefined ? undefined : platforms[name].lacks?.(section);
}

/** Whether the section lets the channel run, where there is one. */
export function isPermitted<K extends PlatformName>(name: K, sections: SomeSections): boolean {
  const section: Sections[K] | undefined = sections[name];
  return section !== undefined && platforms[name].isPermitted?.(section) !== false;
}

/** How replies are cut on platforms that say so while they are off. */
export async function shapeOf(name: PlatformName): Promise<Shape | undefined> {
  return await platforms[name].shape?.();
}

/** What the section comes to; undefined while it is absent or switched off. */
export async function openPlatform<K extends PlatformName>(
  name: K,
  sections: SomeSections,
  scope: PlatformScope,
): Promise<OpenedPlatform | undefined> {
  const section: Sections[K] | undefined = sections[name];
  return section?.enabled === true ? await platforms[name].open(section, scope) : undefined;
}

/**
 * Logs in once with the section. Undefined while there is none, or it lacks something; else how people find it there, where
 * the platform says that.
 *
 * @throws what the platform said
 */
export async function tryPlatform<K extends PlatformName>(
  name: K,
  sections: SomeSections,
  scope: Pick<PlatformScope, "home" | "log">,
  signal: AbortSignal,
): Promise<{ readonly account: string | undefined } | undefined> {
  const section: Sections[K] | undefined = sections[name];
  if (section === undefined || whatLacks(name, sections) !== undefined) return undefined;
  return { account: await platforms[name].logIn(section, scope, signal) };
}
