import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import type { Shape } from "../bus/replies.js";
import { ChannelError } from "../errors.js";
import { whatToAdd } from "../util/packages/missing.js";
import { findingSentence } from "../util/words/finding-sentences.js";
import { statusSentence } from "../util/words/status-sentences.js";
import { type Account, asAccount, contextFor, logFor, said, saidOfAccount } from "./account.js";
import type { Channel } from "./channel.js";
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
/** The sections of the config by the names of their channels: a platform's, or that of a further account on one. */
export type ChannelSections = { readonly [K in PlatformName]?: Sections[K] | undefined } & {
  readonly [name: string]: CommonSection | undefined;
};

const platforms: { readonly [K in PlatformName]: Platform<Sections[K]> } = all;

// The keys are written above, in one place.
export const platformNames = Object.keys(all) as readonly PlatformName[];
const longestFirst = [...platformNames].sort((a, b) => b.length - a.length);
/** Of an account, in characters. */
export const longestName = 40;

export function isPlatformName(name: string): name is PlatformName {
  return Object.hasOwn(all, name);
}

/**
 * The platform of a channel: `slack` of `slack`, and of a further account there such as `slack-acme`. Undefined for all
 * other names. Nothing but the name says it, so that it holds for what the config no longer has as well.
 */
export function platformOf(name: string): PlatformName | undefined {
  if (isPlatformName(name)) return name;
  if (name.length > longestName || !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name)) return undefined;
  return longestFirst.find((platform) => name.startsWith(`${platform}-`));
}

/** The name of a further account. */
export function isAccountName(name: string): boolean {
  return !isPlatformName(name) && platformOf(name) !== undefined;
}

/** The further accounts that have a section in these. */
export function accountsIn(sections: unknown): readonly string[] {
  return Object.keys(Object(sections)).filter(isAccountName);
}

/** Whether a sender on this channel is an account of the gateway itself: two of them in one room would answer each other without end. */
export function isOurs(name: string, senderId: string, open: readonly Pick<Channel, "name" | "ownId">[]): boolean {
  const placeOf = (channel: string): string => platformOf(channel) ?? channel;
  return open.some(({ name: other, ownId }) => ownId === senderId && placeOf(other) === placeOf(name));
}

/** The names of further accounts of a platform, as a regular expression. */
export function accountPattern(platform: PlatformName): string {
  const longer = platformNames.filter((each) => each.startsWith(`${platform}-`));
  const others = longer.length === 0 ? "" : `(?!(?:${longer.join("|")})(?:-|$))`;
  return `^(?=.{1,${longestName}}$)${others}${platform}(?:-[a-z0-9]+)+$`;
}

type SectionSchemas = { readonly [K in PlatformName]: z.ZodOptional<z.ZodType<Sections[K]>> } & {
  readonly [name: string]: z.ZodOptional<z.ZodType<CommonSection>>;
};

/** The section of each platform, and of these further accounts, for the schema of the config. */
export function channelSections(accounts: readonly string[]): SectionSchemas {
  const sections = [...platformNames, ...accounts].flatMap((name) => {
    const section = schemaOf(name);
    return section === undefined ? [] : [[name, section.optional()]];
  });
  // The same names, each with the section of its platform.
  return Object.fromEntries(sections) as SectionSchemas;
}

/** What a channel's section may hold. */
export function schemaOf(name: string): z.ZodType | undefined {
  const platform = platformOf(name);
  return platform === undefined ? undefined : all[platform].section;
}

/** Keys of the config that only the file, or who has the gateway's token, may change; those of each platform's own section. */
export function guardedChannelKeys(): readonly string[] {
  return platformNames.flatMap((name) => (platforms[name].guarded ?? []).map((key) => `channels.${name}.${key}`));
}

interface Known<Section extends CommonSection> {
  readonly platform: Platform<Section>;
  readonly section: Section;
  readonly account: Account;
}

/** Does something with a section by its platform; undefined where there is no such section. */
function withSection<Found>(
  name: string,
  sections: ChannelSections,
  use: <Section extends CommonSection>(known: Known<Section>) => Found,
): Found | undefined {
  const platform = platformOf(name);
  const section = platform !== undefined && Object.hasOwn(sections, name) ? sections[name] : undefined;
  if (platform === undefined || section === undefined) return undefined;
  const useAs = <K extends PlatformName>(kind: K): Found => {
    // The config was read with the section of this platform under this name.
    return use({ platform: platforms[kind], section: section as Sections[K], account: { platform: kind, name } });
  };
  return useAs(platform);
}

/** What a channel that is switched on cannot do without, as a sentence. */
export function whatLacks(name: string, sections: ChannelSections): string | undefined {
  return withSection(name, sections, ({ platform, section, account }) => {
    const lacks = platform.lacks?.(section);
    return lacks === undefined ? undefined : said(lacks, account);
  });
}

/** A value of a section that only one account can have. */
export interface Unshared {
  /** Of the section. */
  readonly key: string;
  /** Equal for two accounts that cannot both have it. */
  readonly value: string;
}

/** What no other account of its platform can have: where it logs in as whom, and where it listens. */
export function unsharedOf(name: string, sections: ChannelSections): readonly Unshared[] {
  const found = withSection(name, sections, ({ platform: { checkup }, section, account }) => {
    const values = Object.entries(checkup.unshared(section)).flatMap(([key, value]): readonly Unshared[] =>
      value === undefined || value === "" ? [] : [{ key, value: `${account.platform} ${key} ${value}` }],
    );
    const door = checkup.listensOn?.(section);
    const isFixed = door !== undefined && door.port !== 0;
    return isFixed ? [...values, { key: door.key, value: `${account.platform} at ${door.host}:${door.port}` }] : values;
  });
  return found ?? [];
}

/** Whether an open channel of this name can go on when its section changes like this. */
export function goesOnWith(name: string, before: CommonSection | undefined, now: CommonSection | undefined): boolean {
  const platform = platformOf(name);
  const isAsked = platform !== undefined && platforms[platform].readsLists !== true;
  const lists = isAsked ? { allowFrom: [], allowGroups: [] } : {};
  return before !== undefined && now !== undefined && isDeepStrictEqual({ ...before, ...lists }, { ...now, ...lists });
}

/** How replies are cut on platforms that say so while they are off. */
export async function shapeOf(name: PlatformName): Promise<Shape | undefined> {
  return await platforms[name].shape?.();
}

/** The platform as its makers spell it, and behind it the name of a further account; undefined for other channels. */
export function titleOf(name: PlatformName): Words;
export function titleOf(name: string): Words | undefined;
export function titleOf(name: string): Words | undefined {
  const platform = platformOf(name);
  if (platform === undefined) return undefined;
  const { title } = platforms[platform].words;
  return name === platform ? title : { en: `${title.en} (${name})`, zh: `${title.zh}（${name}）` };
}

/** What people call a key of its section, and what it means in Chinese. */
export function wordsOf(name: PlatformName, key: string): { readonly label: Words; readonly meaning: string } {
  const { labels, meanings } = platforms[name].words;
  const [en, zh] = labels[key] ?? [key, key];
  return { label: { en, zh }, meaning: meanings[key] ?? "" };
}

/** How people set it up; undefined: in the config file alone. */
export function setUpOf(name: string): SetUp | undefined {
  const platform = platformOf(name);
  const { setUp } = platform === undefined ? {} : platforms[platform];
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
export function canListen(name: string, sections: ChannelSections): boolean {
  return (
    withSection(name, sections, ({ platform, section }) => platform.setUp?.canListen?.(section) !== false) ?? false
  );
}

/** What a channel that is switched on listens on; `key` is that of the config. */
export function listensOn(
  name: string,
  sections: ChannelSections,
): { readonly key: string; readonly host: string; readonly port: number } | undefined {
  return withSection(name, sections, ({ platform, section }) => {
    const found = section.enabled ? platform.checkup.listensOn?.(section) : undefined;
    return found === undefined ? undefined : { ...found, key: `channels.${name}.${found.key}` };
  });
}

/** What the doctor says about a channel that is switched on. */
export function risksOf(name: string, sections: ChannelSections, about: SectionRisk["about"]): readonly SectionRisk[] {
  const found = withSection(name, sections, ({ platform: { checkup }, section, account }) => {
    if (!section.enabled) return [];
    const risks = checkup.risks?.(section) ?? [];
    const ours = risks.map((risk) => ({
      ...risk,
      found: said(risk.found, account),
      todo: said(risk.todo, account),
    }));
    return [...openToAll(name, section, checkup.openToAll), ...ours];
  });
  return (found ?? []).filter((risk) => risk.about === about);
}

function openToAll<Section extends CommonSection>(
  name: string,
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
export async function openPlatform(
  name: string,
  sections: ChannelSections,
  scope: PlatformScope,
): Promise<OpenedPlatform | undefined> {
  return await withSection(name, sections, async ({ platform, section, account }) => {
    if (!section.enabled) return undefined;
    const off = whatToAdd(platform.needs, scope.home);
    if (off !== undefined) return { off, problems: [statusSentence("channel_is_off", { name, reason: off })] };
    if (name === account.platform) return await platform.open(section, scope);
    const { context, log } = scope;
    const own = { account: name, context: contextFor(account, context), log: logFor(account, log) };
    return saidOfOpened(await platform.open(section, { ...scope, ...own }), account);
  });
}

function saidOfOpened({ channel, off, problems, noted }: OpenedPlatform, account: Account): OpenedPlatform {
  return {
    ...(channel === undefined ? {} : { channel: asAccount(channel, account) }),
    ...(off === undefined ? {} : { off: said(off, account) }),
    ...(problems === undefined ? {} : { problems: problems.map((problem) => said(problem, account)) }),
    ...(noted === undefined ? {} : { noted: noted.map(({ key, to }) => ({ key: said(key, account), to })) }),
  };
}

/**
 * Logs in once with the section. Undefined while there is none, or it lacks something; else how people find it there, where
 * the platform says that. `isDoor`: there is nobody to log in at.
 *
 * @throws what the platform said
 */
export async function tryPlatform(
  name: string,
  sections: ChannelSections,
  scope: Pick<PlatformScope, "home" | "log">,
  signal: AbortSignal,
): Promise<{ readonly account: string | undefined; readonly isDoor: boolean } | undefined> {
  if (whatLacks(name, sections) !== undefined) return undefined;
  return await withSection(name, sections, async ({ platform: { needs, logIn }, section, account }) => {
    const missing = whatToAdd(needs, scope.home);
    if (missing !== undefined) throw new ChannelError(`channels.${name}: ${missing}`);
    try {
      const own = name === account.platform ? scope : { ...scope, account: name };
      return { account: await logIn?.(section, own, signal), isDoor: logIn === undefined };
    } catch (error) {
      throw saidOfAccount(error, account);
    }
  });
}
