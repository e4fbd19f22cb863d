import type { z } from "zod";
import type { Shape } from "../bus/replies.js";
import type { Logger } from "../log.js";
import type { Channel, OwnChannelContext } from "./channel.js";

/** What a platform of the config is opened with. */
export interface PlatformScope {
  readonly context: OwnChannelContext;
  readonly home: string;
  /** Proxies that are believed when they name who has connected to them, as the config has them now. */
  readonly trustedProxies: () => readonly string[];
  /** Commands that people are offered. Absent: those that the platform shows stay. */
  readonly commands?: readonly { readonly command: string; readonly description: string }[] | undefined;
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

/** A platform that the config can name. What it needs is loaded when it is opened, and not before. */
export interface Platform<Section extends CommonSection> {
  /** The section `channels.<name>` of the config. */
  readonly section: z.ZodType<Section>;
  /** False: what the section says keeps the channel off although it is switched on. A change of that counts at once. */
  readonly isPermitted?: (section: Section) => boolean;
  /** Keys of the section that only the file, or who has the gateway's token, may change. */
  readonly guarded?: readonly string[];
  /** What a section that is switched on cannot do without, as a sentence. */
  readonly lacks?: (section: Section) => string | undefined;
  /** How replies are cut while it is off. Absent: any text is carried whole. */
  readonly shape?: () => Promise<Shape>;
  open(section: Section, scope: PlatformScope): Promise<OpenedPlatform>;
  /**
   * Logs in once, beside the channel that runs. Resolves with how people find it there, e.g. `@max_bot`.
   *
   * @throws with what the platform said
   */
  logIn(section: Section, scope: Pick<PlatformScope, "home" | "log">, signal: AbortSignal): Promise<string | undefined>;
}
