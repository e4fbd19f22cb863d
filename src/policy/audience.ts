import type { Audience } from "./access.js";

/** Where the page, the terminal and HTTP write: they are open to owners alone. */
export const ownerChannels: ReadonlySet<string> = new Set(["webui", "cli"]);

/** How a message came in, or would come. */
export interface Heard {
  /** Of the conversation that it belongs to. A sub-agent's counts as the one that it works for. */
  readonly sessionKey: string;
  readonly channel: string;
  readonly chatId: string;
  readonly chatType: "dm" | "group";
}

/** Who reads what is said there. */
export interface Readers {
  readonly audience: Audience;
  /** `channel:chat`, whatever the thread: whose memory it is, where it is not the owner's. */
  readonly chat: string;
}

export interface AudienceOptions {
  /** `channel:sender`, those that can match only. */
  readonly owners: readonly string[];
  /** Channels on which somebody else than owners may read. The sessions of all others are read by clients alone. */
  readonly platforms: Pick<ReadonlySet<string>, "has">;
  /** Those of them whose chat ids hold no colon, so that a thread can be told from its chat. */
  readonly plainIds: Pick<ReadonlySet<string>, "has">;
  /** Where the job speaks that has this session of its own; undefined when nobody knows. */
  readonly chatOfJob: (sessionKey: string) => Heard | undefined;
}

/** Jobs that make jobs that make jobs. */
const maxDepth = 5;

/**
 * The one place that says who reads along: owners alone on the page, in the terminal and over HTTP, and in an owner's
 * direct chat; others in every other chat, also for what an owner writes into it from the page, because anyone who is
 * there can have it told. Jobs speak where they were made. In doubt others read.
 */
export function createAudience(options: AudienceOptions): (heard: Heard) => Readers {
  const { owners, platforms, plainIds, chatOfJob } = options;

  const readersOf = (heard: Heard, depth: number): Readers => {
    const { channel, chatId, chatType } = heard;
    const key = heard.sessionKey.split(":spawn:", 1)[0] ?? "";
    const isJob = key.startsWith("cron:");
    if (!ownerChannels.has(channel)) {
      const chat = `${channel}:${chatId}`;
      const isDirect = chatType === "dm" && (isJob || isIn(chat, key));
      return { audience: isDirect && owners.includes(chat) ? "owner" : "others", chat };
    }
    if (isJob) {
      const chat = depth < maxDepth ? chatOfJob(key) : undefined;
      return chat === undefined ? { audience: "others", chat: key } : readersOf(chat, depth + 1);
    }
    const [platform = "", id = ""] = key.split(":");
    if (!platforms.has(platform)) return { audience: "owner", chat: key };
    const own = owners.find((owner) => isIn(owner, key));
    if (own !== undefined) return { audience: "owner", chat: own };
    return { audience: "others", chat: plainIds.has(platform) ? `${platform}:${id}` : key };
  };
  return (heard) => readersOf(heard, 0);
}

/** The chat's own session, or that of one of its threads. */
function isIn(chat: string, key: string): boolean {
  return key === chat || key.startsWith(`${chat}:`);
}
