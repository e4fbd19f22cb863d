import type { z } from "zod";
import type { Shape } from "../bus/replies.js";
import type { Logger } from "../log.js";
import type { Channel, OwnChannelContext } from "./channel.js";

/** What a platform of the config is opened with. */
export interface PlatformScope {
  /** The name of a further account, e.g. `slack-acme`. Absent: the section has the platform's own name. */
  readonly account?: string | undefined;
  readonly context: OwnChannelContext;
  readonly home: string;
  /** Proxies that are believed when they name who has connected to them, as the config has them now. */
  readonly trustedProxies: () => readonly string[];
  /** Other gateways send to its chats as well. */
  readonly isShared?: boolean;
  readonly log: Logger;
}

/** What a section of the config has come to. */
export interface OpenedPlatform {
  readonly channel?: Channel;
  /** Why it is off although it is switched on. */
  readonly off?: string;
  /** What its owner should know, as sentences. */
  readonly problems?: readonly string[];
  /** Settings that anyone who reads the gateway's log later must see, e.g. that senders are not checked. */
  readonly noted?: readonly { readonly key: string; readonly to: string }[];
}

/** What the sections of all platforms have. */
export interface CommonSection {
  readonly enabled: boolean;
  /** Ids of senders. Empty: strangers get a pairing code. `["*"]`: anyone. */
  readonly allowFrom: readonly string[];
  /** Ids of groups. Empty: any. */
  readonly allowGroups?: readonly string[];
}

/** The same in the languages of the page. */
export interface Words {
  readonly en: string;
  readonly zh: string;
}

/** What people call the keys of a section, by key: `webhook.url`. */
export type Labels = Readonly<Record<string, readonly [en: string, zh: string]>>;

/** One thing that people are asked, on the page and in the terminal, to set a channel up. */
export interface SetUpField {
  /** The key of the section that it sets, where `sets` does not name others. */
  readonly key: string;
  /**
   * `server`: `host` or `host:port`. `consent`: yes or no; it must be yes. `choice`: one of `choices`. `ids`: several, with
   * commas.
   */
  readonly kind: "text" | "secret" | "server" | "consent" | "choice" | "ids";
  readonly label: Words;
  readonly hint: Words;
  /** What the terminal asks. Default: the label. */
  readonly asked?: string;
  /** Where people get what is asked. */
  readonly link?: string;
  /** Asked only of who wants more, and not in the terminal. */
  readonly isMore?: boolean;
  /** May be left empty. */
  readonly isOptional?: boolean;
  /** Of `choice`: the first one is meant where nothing is said. */
  readonly choices?: readonly string[];
  /** All keys that get what is typed. */
  readonly sets?: readonly string[];
  /** Of `server`: the key of its port, and the key that says whether TLS begins with the first byte, as on port 465. */
  readonly port?: { readonly key: string; readonly tlsKey?: string };
}

/** How people set a channel up. Goes to the page as it is: data alone. */
export interface SetUp {
  readonly fields: readonly SetUpField[];
  /** The id of a person there, as somebody types it who means themselves. */
  readonly person: {
    readonly label: string;
    /** Instead of `I type my id`, among other ways to say who one is. */
    readonly choice?: string;
    /** Capital letters do not matter. */
    readonly isLowerCase?: boolean;
    /** The assistant may begin: nobody has to write to it first. */
    readonly mayBegin?: boolean;
    /** A regular expression of the whole id. */
    readonly pattern: string;
    /** What follows `"x" is`, e.g. `not a mail address.` */
    readonly refusal: string;
  };
}

/** A word of the doctor about a section that is switched on. */
export interface SectionRisk {
  readonly about: "people" | "access";
  readonly level: "warn" | "fail";
  readonly found: string;
  readonly todo: string;
}

/** What is looked at besides the login. */
export interface Checkup<Section extends CommonSection> {
  /**
   * Values by their keys that only one account can have, e.g. the token of a bot: the platform gives each message to one of
   * those who ask with it.
   */
  readonly unshared: (section: Section) => Readonly<Record<string, string | undefined>>;
  /** What it listens on; `key` is that of the port in the section. */
  readonly listensOn?: (
    section: Section,
  ) => { readonly key: string; readonly host: string; readonly port: number } | undefined;
  readonly risks?: (section: Section) => readonly SectionRisk[];
  /** How bad it is that anyone may write; undefined: not at all, e.g. behind a token. Absent: `fail`. */
  readonly openToAll?: (section: Section) => SectionRisk["level"] | undefined;
}

type JsonObject = Readonly<Record<string, unknown>>;

/** What is taken over from other programs' configs and conversations. */
export interface Imports {
  /** Keys of a section that the Go maxclaw and nanobot have under the same names. */
  readonly keys: readonly string[];
  /** One of these must say something, or the section be switched on, else it is not worth taking. Default `["token"]`. */
  readonly loginKeys?: readonly string[];
  /** Prefixes of people's ids that mean nothing here, and what an id looks like; absent: any text is an id. */
  readonly ids?: { readonly prefixes: readonly string[]; readonly pattern: RegExp };
  /** What others call this channel. */
  readonly otherNames?: readonly string[];
  /** What nanobot calls otherwise, with our keys. */
  readonly fromNanobot?: (section: JsonObject) => JsonObject;
  /** What the owner has to do by hand before a section of another program works here; undefined: nothing. */
  readonly todo?: (section: JsonObject) => string | undefined;
  /** OpenClaw's section with our keys. `secret` gives the text of a value that may be elsewhere. */
  readonly fromOpenclaw?: (section: JsonObject, secret: (value: unknown) => string | undefined) => JsonObject;
  /**
   * Our chat, and its thread, for a chat as others write it behind the channel's name: `42`, `-100:topic:5`. `kind`: what
   * OpenClaw's keys say before it, e.g. `direct` or `group`. Undefined: not a chat of ours.
   */
  readonly chatOf?: (written: string, kind?: string) => readonly [chatId: string, thread?: string] | undefined;
  /** Our direct chat for the address that OpenClaw's one conversation for everything went to last. */
  readonly directChatOf?: (address: string) => string | undefined;
}

/** A platform that the config can name. What it needs is loaded when it is opened, and not before. */
export interface Platform<Section extends CommonSection> {
  readonly words: {
    /** As its makers spell it. */
    readonly title: Words;
    /** What people call each key of the section. */
    readonly labels: Labels;
    /** What each key of the section means in Chinese; the section says it in English. */
    readonly meanings: Readonly<Record<string, string>>;
  };
  /** The section `channels.<name>` of the config. */
  readonly section: z.ZodType<Section>;
  /** Its own code looks at who may talk, besides the gateway, which asks with each message: another list opens it again. */
  readonly readsLists?: boolean;
  /** Keys of the section that only the file, or who has the gateway's token, may change. */
  readonly guarded?: readonly string[];
  /** What a section that is switched on cannot do without, as a sentence. */
  readonly lacks?: (section: Section) => string | undefined;
  /** How replies are cut while it is off. Absent: any text is carried whole. */
  readonly shape?: () => Promise<Shape>;
  /** The name in `util/packages/options` of the packages that it needs and the program does not bring along. */
  readonly needs?: string;
  open(section: Section, scope: PlatformScope): Promise<OpenedPlatform>;
  /**
   * Logs in once, beside the channel that runs. Resolves with how people find it there, e.g. `@max_bot`. Absent: there is
   * nobody to log in at, because others come to it.
   *
   * @throws with what the platform said
   */
  readonly logIn?: (
    section: Section,
    scope: Pick<PlatformScope, "account" | "home" | "log">,
    signal: AbortSignal,
  ) => Promise<string | undefined>;
  readonly checkup: Checkup<Section>;
  /** Absent: it is set up in the config file alone. */
  readonly setUp?: SetUp & {
    /** Whether people can be listened to before a gateway runs. Absent: yes. */
    readonly canListen?: (section: Section) => boolean;
  };
  readonly imports?: Imports;
}
