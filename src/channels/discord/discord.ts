import { z } from "zod";
import type { OutboundMessage } from "../../bus/messages.js";
import { ChannelError, messageOf } from "../../errors.js";
import type { Logger } from "../../log.js";
import { sleep } from "../../util/async/sleep.js";
import type { Channel, ChannelContext, Publish, Receipt, ReceivedFile } from "../channel.js";
import { type DiscordRest, openRest } from "./api.js";
import { KnownChats } from "./chats.js";
import { type CommandText, registerCommands } from "./commands.js";
import { listenToGateway, type Place } from "./connection.js";
import { callError, isUnknownChannel, sendError } from "./discord-error.js";
import { download } from "./files.js";
import { type ChannelEvent, Intake, IntakeMemory, untilAnswered } from "./intake.js";
import { answerInteraction, type Interaction, parseInteraction, type Word } from "./interaction.js";
import type { DiscordAttachment } from "./message.js";
import { editMessage, findMessage, sendMessage } from "./send.js";
import { discordShape } from "./shape.js";

export interface DiscordOptions {
  /** The bot's token, as the developer portal shows it. */
  readonly token: string;
  /** Default `https://discord.com/api`. */
  readonly apiRoot?: string | undefined;
  /** Offered as slash commands. */
  readonly commands?: readonly CommandText[] | undefined;
  /** How long a lost connection may take to come back before it counts as lost. Default 15,000. */
  readonly reconnectMs?: number | undefined;
  readonly identifyGapMs?: number | undefined;
  readonly busyRetryMs?: number | undefined;
  readonly log: Logger;
}

/** Discord takes five edits in five seconds. */
const liveEditMs = 1200;
/** Discord shows the sign for 10 seconds. */
const typingIntervalMs = 8000;
/** A heartbeat comes every 41 s. */
const longestSilenceMs = 120_000;
const callMs = 15_000;
const positionsMs = 5000;
const threadTypes: ReadonlySet<number> = new Set([10, 11, 12]);
/** A command that finds no room is offered again so often: who sent it is waiting for a word. */
const commandRetries = 10;
const tryAgain = "Sorry, this could not be taken. Please try it again.";
const mostParents = 1000;
const mostReceipts = 500;

const identity = z.looseObject({ id: z.string() });
const ready = z.looseObject({ user: identity, application: identity });
const channelInfo = z.looseObject({ type: z.number(), parent_id: z.string().nullish() });
const ownRole = z.object({ id: z.string(), tags: z.object({ bot_id: z.string().optional() }).optional() });
const server = z.object({ roles: z.array(ownRole) });
const newRole = z.object({ role: ownRole }).transform(({ role }) => ({ roles: [role] }));
const inChannel = z.looseObject({ channel_id: z.string() });

/** Discord by its gateway, with history for what the gateway has not told. */
export function createDiscordChannel(options: DiscordOptions, context: ChannelContext): Channel {
  const { token, log, reconnectMs = 15_000, identifyGapMs = 5500, busyRetryMs = 1000 } = options;
  const { sendTimeoutMs = 30_000 } = context;
  const place: Place = { session: undefined, identifiedAt: 0 };
  const memory = new IntakeMemory();
  const parents = new Map<string, string | undefined>();
  const receipts = new Set<string>();
  let opened: Promise<DiscordRest> | undefined;
  let self: { readonly botId: string; readonly chats: KnownChats } | undefined;

  const open = (): Promise<DiscordRest> => {
    opened ??= openRest(options);
    return opened;
  };

  function become(botId: string): { readonly botId: string; readonly chats: KnownChats } {
    if (self?.botId !== botId) self = { botId, chats: new KnownChats(botId, context.records, context.cursor) };
    return self;
  }

  async function identify(signal: AbortSignal): Promise<{ readonly botId: string; readonly chats: KnownChats }> {
    if (self !== undefined) return self;
    const rest = await open();
    const me = identity.parse(await rest.call({ method: "GET", path: "/users/@me" }, callMs, signal, callError));
    return become(me.id);
  }

  async function parentOf(channelId: string, signal: AbortSignal): Promise<string | undefined> {
    if (parents.has(channelId)) return parents.get(channelId);
    const rest = await open();
    let parent: string | undefined;
    try {
      const path = `/channels/${channelId}`;
      const { type, parent_id: above } = channelInfo.parse(
        await rest.call({ method: "GET", path }, callMs, signal, callError),
      );
      parent = threadTypes.has(type) ? (above ?? undefined) : undefined;
    } catch (error) {
      if (error instanceof ChannelError && error.retryable) throw error;
      log.warn("a Discord channel cannot be looked at", { channelId, error: messageOf(error) });
    }
    parents.set(channelId, parent);
    if (parents.size > mostParents) for (const oldest of [...parents.keys()].slice(0, 1)) parents.delete(oldest);
    return parent;
  }

  function toFile({ url, filename, size, content_type: mime }: DiscordAttachment, isVoice: boolean): ReceivedFile {
    return {
      filename,
      mimeType: (mime ?? "application/octet-stream").split(";", 1)[0] ?? "",
      sizeBytes: size,
      isVoice: isVoice || undefined,
      read: (maxBytes, signal) => download(url, maxBytes, signal),
    };
  }

  /** Does it in the channel of this chat, which is asked for where only the person is known. */
  async function inChannelOf<T>(
    chatId: string,
    thread: string | undefined,
    signal: AbortSignal,
    work: (rest: DiscordRest, channelId: string) => Promise<T>,
  ): Promise<T> {
    const rest = await open();
    const chats = (await identify(signal)).chats;
    const direct = thread === undefined ? chats.directOf(chatId) : undefined;
    try {
      return await work(rest, thread ?? direct ?? chatId);
    } catch (error) {
      if (!isUnknownChannel(error) || thread !== undefined || direct !== undefined) throw error;
      const call = { method: "POST", path: "/users/@me/channels", body: { recipient_id: chatId } } as const;
      const { id } = identity.parse(await rest.call(call, callMs, signal, sendError));
      chats.noteDirect(chatId, id);
      return await work(rest, id);
    }
  }

  /** Outside the outbound queue, for what nobody waits for: best effort. */
  async function tell(channelId: string, replyTo: string | undefined, text: string, signal: AbortSignal) {
    const id = `notice:${channelId}:${replyTo ?? Date.now()}:${text}`;
    const notice = {
      id,
      channel: "discord",
      chatId: channelId,
      sessionKey: "",
      content: text,
      attachments: [],
      replyTo,
    };
    try {
      await sendMessage(await open(), channelId, notice, callMs, signal);
    } catch (error) {
      if (!signal.aborted) log.warn("a Discord notice was not sent", { channelId, error: messageOf(error) });
    }
  }

  async function wordOnPress({ where, senderId, senderName, pressed = "" }: Interaction): Promise<Word> {
    const outcome = await context.press?.({ ...where, senderId, senderName, value: pressed });
    return { text: outcome?.text ?? "Nothing waits for this.", isQuiet: outcome?.status === "taken" };
  }

  function wordOnCommand(
    interaction: Interaction,
    { intake, botId, publish }: { readonly intake: Intake; readonly botId: string; readonly publish: Publish },
    signal: AbortSignal,
  ): Promise<Word> {
    const { id, channelId, where, senderId, senderName, command = "" } = interaction;
    const message = { ...where, senderId, senderName, content: command, addressed: true };
    const isAtOnce = context.actsAtOnce?.(message) === true;
    return new Promise((resolve) => {
      const work = async (): Promise<void> => {
        try {
          const offer = () => publish({ ...message, dedupId: `discord:${botId}:interaction:${id}` });
          let outcome = await offer();
          for (let n = 0; outcome.status === "busy" && n < commandRetries && !signal.aborted; n++) {
            await sleep(busyRetryMs, signal).catch(() => undefined);
            outcome = await offer();
          }
          const { status } = outcome;
          if (status === "busy") resolve({ text: outcome.reply || tryAgain, isQuiet: false });
          else if (status === "refused")
            resolve({ text: outcome.reply || "I cannot answer you here.", isQuiet: false });
          else resolve({ text: `\`${command}\``, isQuiet: true });
        } catch (error) {
          log.error("a Discord command could not be passed on", { command, error });
          resolve({ text: tryAgain, isQuiet: false });
        }
      };
      void (isAtOnce ? intake.besideLane(channelId, work) : intake.inLane(channelId, work));
    });
  }

  async function run(publish: Publish, onConnected: () => void, signal: AbortSignal): Promise<void> {
    const rest = await open();
    const { botId, chats } = await identify(signal);
    const works = new Set<Promise<void>>();
    const own = (work: Promise<void>): void => {
      const done = work
        .catch((error: unknown) => {
          if (!signal.aborted) log.warn("something on Discord was not answered", { error: messageOf(error) });
        })
        .finally(() => works.delete(done));
      works.add(done);
    };
    const leaving = new AbortController();
    const stop = (): void => leaving.abort();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    const intake = new Intake(
      {
        botId,
        publish,
        chats,
        memory,
        parentOf,
        toFile,
        actsAtOnce: context.actsAtOnce,
        async fetchAfter(channelId, after, limit) {
          const call = {
            method: "GET",
            path: `/channels/${channelId}/messages`,
            query: { after, limit: "100" },
          } as const;
          return z.array(z.unknown()).parse(await rest.call(call, callMs, limit, callError));
        },
        tell: (channelId, replyTo, text) => own(tell(channelId, replyTo, text, signal)),
        busyRetryMs,
        log,
      },
      leaving.signal,
    );
    const positions = setInterval(() => own(chats.write()), positionsMs);
    let isRegistered = false;
    const onReady = (data: unknown): void => {
      intake.catchUp();
      const { application } = ready.safeParse(data).data ?? {};
      if (isRegistered || application === undefined || options.commands === undefined) return;
      isRegistered = true;
      const { commands } = options;
      const register = () => registerCommands(rest, application.id, commands, leaving.signal);
      own(untilAnswered(register, leaving.signal).then(() => undefined));
    };
    const onRoles = ({ roles }: z.infer<typeof server>): void => {
      for (const { id, tags } of roles) if (tags?.bot_id === botId) own(chats.noteRole(id));
    };
    const onEvent = ({ type, data }: { readonly type: string; readonly data: unknown }): void => {
      if (type === "READY") onReady(data);
      if (type === "GUILD_CREATE" || type === "GUILD_ROLE_CREATE") {
        const found = (type === "GUILD_CREATE" ? server : newRole).safeParse(data).data;
        if (found !== undefined) onRoles(found);
      }
      if (type === "INTERACTION_CREATE") {
        const interaction = parseInteraction(data);
        if (interaction === undefined) return;
        if (interaction.where.chatType === "dm") chats.noteDirect(interaction.senderId, interaction.channelId);
        const word =
          interaction.pressed === undefined
            ? wordOnCommand(interaction, { intake, botId, publish }, leaving.signal)
            : wordOnPress(interaction);
        own(answerInteraction(rest, interaction, word, signal));
      }
      const channelId = inChannel.safeParse(data).data?.channel_id;
      if (isMessageEvent(type) && channelId !== undefined) intake.take({ type, channelId, data });
    };
    try {
      await listenToGateway(
        { token, rest: rest.client, place, onEvent, onAlive: onConnected, reconnectMs, identifyGapMs, log },
        signal,
      );
    } finally {
      leaving.abort();
      signal.removeEventListener("abort", stop);
      clearInterval(positions);
      await intake.settled();
      await Promise.all([chats.write(true).catch(() => undefined), ...works]);
    }
  }

  return {
    name: "discord",
    typingIntervalMs,
    ...discordShape,
    liveEditMs,
    longestSilenceMs,

    async run(publish, onConnected, signal): Promise<void> {
      try {
        await run(publish, onConnected, signal);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },

    async send(message: OutboundMessage, signal: AbortSignal): Promise<Receipt> {
      if (signal.aborted) throw new ChannelError("The send was aborted before it began.", { retryable: true });
      const ms = message.attachments.length === 0 ? sendTimeoutMs : sendTimeoutMs * 4;
      const { chatId, thread } = message;
      const id = await inChannelOf(chatId, thread, signal, (rest, channelId) =>
        sendMessage(rest, channelId, message, ms, signal),
      );
      return noteReceipt(id, thread);
    },

    async find(message, since, signal): Promise<Receipt | undefined> {
      const { botId } = await identify(signal);
      const { chatId, thread } = message;
      const about = { botId, since, known: (id: string) => receipts.has(id) };
      const id = await inChannelOf(chatId, thread, signal, (rest, channelId) =>
        findMessage(rest, channelId, message, about, sendTimeoutMs, signal),
      );
      return id === undefined ? undefined : noteReceipt(id, thread);
    },

    async edit({ chatId, platformMessageId, content }, signal): Promise<void> {
      const [id = "", thread] = platformMessageId.split("@");
      await inChannelOf(chatId, thread, signal, (rest, channelId) =>
        editMessage(rest, channelId, id, content, sendTimeoutMs, signal),
      );
    },

    async showTyping(chatId, thread, signal): Promise<void> {
      await inChannelOf(chatId, thread, signal, (rest, channelId) =>
        rest.call({ method: "POST", path: `/channels/${channelId}/typing` }, callMs, signal, callError),
      );
    },
  };

  /** In a thread the id says where: an edit is told only the chat. */
  function noteReceipt(id: string, thread: string | undefined): Receipt {
    receipts.add(id);
    if (receipts.size > mostReceipts) for (const oldest of [...receipts].slice(0, 1)) receipts.delete(oldest);
    return { platformMessageId: thread === undefined ? id : `${id}@${thread}` };
  }
}

function isMessageEvent(type: string): type is ChannelEvent["type"] {
  return type === "MESSAGE_CREATE" || type === "MESSAGE_UPDATE" || type === "MESSAGE_DELETE";
}
