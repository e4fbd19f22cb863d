import { z } from "zod";
import { settledWithin } from "../../util/async/within.js";
import type { DiscordRest } from "./api.js";
import { callError } from "./discord-error.js";
import { nameOf, type Where } from "./message.js";
import { suppressEmbeds } from "./send.js";

const user = z.looseObject({ id: z.string(), username: z.string().optional(), global_name: z.string().nullish() });

const option = z.looseObject({ value: z.unknown().optional() });

/** https://discord.com/developers/docs/interactions/receiving-and-responding#interaction-object */
const interaction = z.looseObject({
  id: z.string().regex(/^\d+$/),
  application_id: z.string(),
  token: z.string(),
  type: z.number(),
  channel_id: z.string(),
  channel: z.looseObject({ type: z.number(), parent_id: z.string().nullish() }).optional(),
  guild_id: z.string().optional(),
  context: z.number().optional(),
  member: z.looseObject({ user }).optional(),
  user: user.optional(),
  data: z
    .looseObject({ name: z.string().optional(), options: z.array(option).optional(), custom_id: z.string().optional() })
    .optional(),
});

const kinds = { command: 2, component: 3 } as const;
const betweenOthers = 2;
const threadTypes: ReadonlySet<number> = new Set([10, 11, 12]);

/** A slash command or a pressed button. */
export interface Interaction {
  readonly id: string;
  readonly applicationId: string;
  readonly token: string;
  readonly channelId: string;
  readonly where: Where;
  readonly senderId: string;
  readonly senderName: string | undefined;
  /** As it would be typed: `/model fast`. */
  readonly command?: string;
  /** The button's value. */
  readonly pressed?: string;
}

export function parseInteraction(data: unknown): Interaction | undefined {
  const found = interaction.safeParse(data).data;
  const sender = found?.member?.user ?? found?.user;
  // Where two other people write to each other the bot cannot answer.
  if (found === undefined || sender === undefined || found.context === betweenOthers) return undefined;
  const { id, application_id: applicationId, token, channel_id: channelId, channel, guild_id: guildId } = found;
  const isThread = channel !== undefined && threadTypes.has(channel.type);
  const parent = isThread ? (channel.parent_id ?? undefined) : undefined;
  const about = {
    id,
    applicationId,
    token,
    channelId,
    senderId: sender.id,
    senderName: nameOf(sender),
    where:
      guildId === undefined
        ? { chatId: sender.id, chatType: "dm" as const }
        : parent === undefined
          ? { chatId: channelId, chatType: "group" as const }
          : { chatId: parent, thread: channelId, chatType: "group" as const },
  };
  const { name, options = [], custom_id: pressed } = found.data ?? {};
  if (found.type === kinds.component && pressed !== undefined) return { ...about, pressed };
  if (found.type !== kinds.command || name === undefined) return undefined;
  const words = options.flatMap(({ value }) => (value === undefined ? [] : [String(value)]));
  return { ...about, command: [`/${name}`, ...words].join(" ") };
}

/** One sentence for the person who pressed or typed; nobody else sees it. */
export interface Word {
  readonly text: string;
  /** Nothing to look up for: it comes without a sound. */
  readonly isQuiet: boolean;
}

const replies = { message: 4, deferred: 5 } as const;
const flags = { onlyForThem: 64, silent: 4096, suppressEmbeds } as const;
/** Discord gives up after 3 s, the way there included. */
const patienceMs = 1500;
const callMs = 10_000;
const longestWord = 2000;

/** Answers an interaction: at once where that is possible, else Discord is told to wait, and gets the word later. */
export async function answerInteraction(
  rest: DiscordRest,
  { id, token, applicationId }: Interaction,
  word: Promise<Word>,
  signal: AbortSignal,
): Promise<void> {
  const callback = (body: unknown): Promise<unknown> =>
    rest.call({ method: "POST", path: `/interactions/${id}/${token}/callback`, body }, callMs, signal, callError);
  if (await settledWithin(word, { ms: patienceMs })) {
    await callback({ type: replies.message, data: bodyOf(await word) });
    return;
  }
  await callback({ type: replies.deferred, data: { flags: flags.onlyForThem + flags.suppressEmbeds } });
  const { content } = bodyOf(await word);
  const path = `/webhooks/${applicationId}/${token}/messages/@original`;
  await rest.call({ method: "PATCH", path, body: { content, flags: flags.suppressEmbeds } }, callMs, signal, callError);
}

function bodyOf({ text, isQuiet }: Word): { readonly content: string; readonly flags: number } {
  return {
    content: text.slice(0, longestWord),
    flags: flags.onlyForThem + flags.suppressEmbeds + (isQuiet ? flags.silent : 0),
  };
}
