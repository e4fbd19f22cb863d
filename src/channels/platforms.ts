import type { z } from "zod";
import type { Shape } from "../bus/replies.js";
import { ChannelError } from "../errors.js";
import { whatToAdd } from "../util/packages/missing.js";
import { findingSentence } from "../util/words/finding-sentences.js";
import { statusSentence } from "../util/words/status-sentences.js";
import { discordPlatform } from "./discord/platform.js";
import { emailPlatform } from "./email/platform.js";
import { feishuPlatform } from "./feishu/platform.js";
import { matrixPlatform } from "./matrix/platform.js";
import type {
  CommonSection,
  Imports,
  OpenedPlatform,
  Platform,
  PlatformScope,
  SectionRisk,
  SetUp,
  Words,
} from "./platform.js";
import { qqPlatform } from "./qq/platform.js";
import { slackPlatform } from "./slack/platform.js";
import { telegramPlatform } from "./telegram/platform.js";
import { websocketPlatform } from "./websocket/platform.js";
import { whatsappPlatform } from "./whatsapp/platform.js";
import { whatsappBusinessPlatform } from "./whatsapp-business/platform.js";
import { xmppPlatform } from "./xmpp/platform.js";

/** All platforms. A new one has a folder of its own, and its line here. */
const all = {
  telegram: telegramPlatform,
  discord: discordPlatform,
  slack: slackPlatform,
  matrix: matrixPlatform,
  email: emailPlatform,
  feishu: feishuPlatform,
  qq: qqPlatform,
  websocket: websocketPlatform,
  whatsapp: whatsappPlatform,
  "whatsapp-business": whatsappBusinessPlatform,
  xmpp: xmppPlatform,
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

/** As its makers spell it. */
export function titleOf(name: PlatformName): Words {
  return platforms[name].words.title;
}

/** What people call a key of its section, and what it means in Chinese. */
export function wordsOf(name: PlatformName, key: string): { readonly label: Words; readonly meaning: string } {
  const { labels, meanings } = platforms[name].words;
  const [en, zh] = labels[key] ?? [key, key];
  return { label: { en, zh }, meaning: meanings[key] ?? "" };
}

/** How people set it up; undefined: in the config file alone. */
export function setUpOf(name: PlatformName): SetUp | undefined {
  const { setUp } = platforms[name];
  return setUp === undefined ? undefined : { fields: setUp.fields, person: setUp.person };
}

/** Our name for a channel that others may call otherwise. */
export function ownNameOf(name: string): string {
  const own = Object.entries(platforms).find(([, { imports }]) => imports?.otherNames?.includes(name) === true);
  return own?.[0] ?? name;
}

/** What is taken over from other programs; undefined: nothing. */
export function importsOf(name: string): Imports | undefined {
  return isPlatformName(name) ? platforms[name].imports : undefined;
}

/** Whether people can be listened to before a gateway runs. */
export function canListen<K extends PlatformName>(name: K, sections: SomeSections): boolean {
  const section: Sections[K] | undefined = sections[name];
  return section !== undefined && platforms[name].setUp?.canListen?.(section) !== false;
}

/** What a channel that is switched on listens on; `key` is that of the config. */
export function listensOn<K extends PlatformName>(
  name: K,
  sections: SomeSections,
): { readonly key: string; readonly host: string; readonly port: number } | undefined {
  const section: Sections[K] | undefined = sections[name];
  const found = section?.enabled === true ? platforms[name].checkup?.listensOn?.(section) : undefined;
  return found === undefined ? undefined : { ...found, key: `channels.${name}.${found.key}` };
}

/** What the doctor says about a channel that is switched on. */
export function risksOf<K extends PlatformName>(
  name: K,
  sections: SomeSections,
  about: SectionRisk["about"],
): readonly SectionRisk[] {
  const section: Sections[K] | undefined = sections[name];
  const { checkup } = platforms[name];
  if (section?.enabled !== true) return [];
  const all = [...openToAll(name, section, checkup?.openToAll), ...(checkup?.risks?.(section) ?? [])];
  return all.filter((risk) => risk.about === about);
}

function openToAll<Section extends CommonSection>(
  name: PlatformName,
  section: Section,
  levelOf: ((section: Section) => SectionRisk["level"] | undefined) | undefined,
): readonly SectionRisk[] {
  const level = levelOf === undefined ? "fail" : levelOf(section);
  if (!section.allowFrom.includes("*") || level === undefined) return [];
  return [
    {
      about: "people",
      level,
      found: findingSentence("open_channel", { name }),
      todo: findingSentence("open_channel_todo"),
    },
  ];
}

/** What the section comes to; undefined while it is absent or switched off. */
export async function openPlatform<K extends PlatformName>(
  name: K,
  sections: SomeSections,
  scope: PlatformScope,
): Promise<OpenedPlatform | undefined> {
  const section: Sections[K] | undefined = sections[name];
  if (section?.enabled !== true) return undefined;
  const off = whatToAdd(platforms[name].needs, scope.home);
  if (off !== undefined) return { off, problems: [statusSentence("channel_is_off", { name, reason: off })] };
  return await platforms[name].open(section, scope);
}

/**
 * Logs in once with the section. Undefined while there is none, or it lacks something; else how people find it there, where
 * the platform says that. `isDoor`: there is nobody to log in at.
 *
 * @throws what the platform said
 */
export async function tryPlatform<K extends PlatformName>(
  name: K,
  sections: SomeSections,
  scope: Pick<PlatformScope, "home" | "log">,
  signal: AbortSignal,
): Promise<{ readonly account: string | undefined; readonly isDoor: boolean } | undefined> {
  const section: Sections[K] | undefined = sections[name];
  if (section === undefined || whatLacks(name, sections) !== undefined) return undefined;
  const { needs, logIn } = platforms[name];
  const missing = whatToAdd(needs, scope.home);
  if (missing !== undefined) throw new ChannelError(`channels.${name}: ${missing}`);
  return { account: await logIn?.(section, scope, signal), isDoor: logIn === undefined };
}
