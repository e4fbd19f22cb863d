import { z } from "zod";
import { messageOf } from "../../errors.js";
import type { Logger } from "../../log.js";
import { Background } from "../../util/async/background.js";
import { type LinkedAbort, linked } from "../../util/async/linked.js";
import { sleep } from "../../util/async/sleep.js";
import type { ChannelContext, Publish, ReceivedFile } from "../channel.js";
import { download } from "../wire/download.js";
import { untilAnswered } from "../wire/until-answered.js";
import { type Account, type Bot, callMs } from "./account.js";
import type { DiscordRest } from "./api.js";
import { type CommandText, registerCommands } from "./commands.js";
import type { GatewayEvent } from "./connection.js";
import { callError } from "./discord-error.js";
import { type ChannelEvent, Intake, type IntakeMemory } from "./intake.js";
import { answerInteraction, type Interaction, parseInteraction, type Word } from "./interaction.js";
import type { DiscordAttachment } from "./message.js";
import { sendMessage } from "./send.js";

export interface ReceivingOptions {
  readonly account: Account;
  readonly bot: Bot;
  readonly rest: DiscordRest;
  readonly memory: IntakeMemory;
  readonly publish: Publish;
  readonly context: Pick<ChannelContext, "press" | "actsAtOnce">;
  /** Offered as slash commands. */
  readonly commands: readonly CommandText[] | undefined;
  readonly busyRetryMs: number;
  readonly log: Logger;
}

const positionsMs = 5000;
/** A command that finds no room is offered again so often: who sent it is waiting for a word. */
const commandRetries = 10;
const tryAgain = "Sorry, this could not be taken. Please try it again.";

const ready = z.looseObject({ application: z.looseObject({ id: z.string() }) });
const ownRole = z.object({ id: z.string(), tags: z.object({ bot_id: z.string().optional() }).optional() });
const server = z.object({ roles: z.array(ownRole) });
const newRole = z.object({ role: ownRole }).transform(({ role }) => ({ roles: [role] }));
const inChannel = z.looseObject({ channel_id: z.string() });

/** What comes in during one run: reads the gateway's events, and passes on messages, slash commands and presses. */
export class Receiving implements AsyncDisposable {
  readonly #options: ReceivingOptions;
  /** Of the run. */
  readonly #signal: AbortSignal;
  /** Aborts when the run ends for whatever reason. */
  readonly #leaving: LinkedAbort;
  readonly #intake: Intake;
  readonly #background: Background;
  readonly #positions: NodeJS.Timeout;
  #isRegistered = false;

  constructor(options: ReceivingOptions, signal: AbortSignal) {
    const { account, bot, rest, context } = options;
    this.#options = options;
    this.#signal = signal;
    this.#leaving = linked(signal);
    this.#background = new Background((error) => {
      if (!signal.aborted) options.log.warn("something on Discord was not answered", { error: messageOf(error) });
    });
    this.#intake = new Intake(
      {
        botId: bot.id,
        chats: bot.chats,
        publish: options.publish,
        memory: options.memory,
        parentOf: (channelId, limit) => account.parentOf(channelId, limit),
        toFile,
        actsAtOnce: context.actsAtOnce,
        fetchAfter: (channelId, after, limit) => fetchAfter(rest, channelId, after, limit),
        tell: (channelId, replyTo, text) => this.#background.own(this.#tell(channelId, replyTo, text)),
        busyRetryMs: options.busyRetryMs,
        log: options.log,
      },
      this.#leaving.signal,
    );
    this.#positions = setInterval(() => this.#background.own(bot.chats.write()), positionsMs);
  }

  take({ type, data }: GatewayEvent): void {
    if (type === "READY") this.#onReady(data);
    if (type === "GUILD_CREATE") this.#noteRoles(server.safeParse(data).data);
    if (type === "GUILD_ROLE_CREATE") this.#noteRoles(newRole.safeParse(data).data);
    if (type === "INTERACTION_CREATE") this.#onInteraction(parseInteraction(data));
    const channelId = inChannel.safeParse(data).data?.channel_id;
    if (isMessageEvent(type) && channelId !== undefined) this.#intake.take({ type, channelId, data });
  }

  /** A new session: what was before it is not handed out. */
  #onReady(data: unknown): void {
    this.#intake.catchUp();
    const { rest, commands } = this.#options;
    const application = ready.safeParse(data).data?.application;
    if (this.#isRegistered || application === undefined || commands === undefined) return;
    this.#isRegistered = true;
    const { signal } = this.#leaving;
    const register = () => registerCommands(rest, application.id, commands, signal);
    this.#background.own(untilAnswered(register, signal));
  }

  #noteRoles(known: z.infer<typeof server> | undefined): void {
    const { id: botId, chats } = this.#options.bot;
    for (const { id, tags } of known?.roles ?? []) if (tags?.bot_id === botId) this.#background.own(chats.noteRole(id));
  }

  #onInteraction(interaction: Interaction | undefined): void {
    if (interaction === undefined) return;
    const { rest, bot } = this.#options;
    const { where, senderId, channelId, pressed } = interaction;
    if (where.chatType === "dm") bot.chats.noteDirect(senderId, channelId);
    const word = pressed === undefined ? this.#takeCommand(interaction) : this.#takePress(interaction, pressed);
    this.#background.own(answerInteraction(rest, interaction, word, this.#signal));
  }

  async #takePress({ where, senderId, senderName }: Interaction, value: string): Promise<Word> {
    const outcome = await this.#options.context.press?.({ ...where, senderId, senderName, value });
    return { text: outcome?.text ?? "Nothing is waiting for this.", isQuiet: outcome?.status === "taken" };
  }

  /** Passes a slash command on as the text that it stands for, in the order of its channel. */
  #takeCommand(interaction: Interaction): Promise<Word> {
    const { bot, context } = this.#options;
    const { id, channelId, where, senderId, senderName, command = "" } = interaction;
    const message = { ...where, senderId, senderName, content: command, addressed: true };
    const isAtOnce = context.actsAtOnce?.(message) === true;
    const offer = () => this.#options.publish({ ...message, dedupId: `discord:${bot.id}:interaction:${id}` });
    return new Promise((resolve) => {
      const work = async (): Promise<void> => resolve(await this.#wordOn(command, offer));
      void (isAtOnce ? this.#intake.besideLane(channelId, work) : this.#intake.inLane(channelId, work));
    });
  }

  /** Never rejects. */
  async #wordOn(command: string, offer: () => ReturnType<Publish>): Promise<Word> {
    const { signal } = this.#leaving;
    try {
      let outcome = await offer();
      for (let n = 0; outcome.status === "busy" && n < commandRetries && !signal.aborted; n++) {
        await sleep(this.#options.busyRetryMs, signal).catch(() => undefined);
        outcome = await offer();
      }
      if (outcome.status === "busy") return { text: outcome.reply || tryAgain, isQuiet: false };
      if (outcome.status === "refused") return { text: outcome.reply || "I cannot answer you here.", isQuiet: false };
      return { text: `\`${command}\``, isQuiet: true };
    } catch (error) {
      this.#options.log.error("a Discord command could not be passed on", { command, error });
      return { text: tryAgain, isQuiet: false };
    }
  }

  /** Outside the outbound queue, for what nobody waits for: best effort. */
  async #tell(channelId: string, replyTo: string | undefined, content: string): Promise<void> {
    const id = `notice:${channelId}:${replyTo ?? Date.now()}:${content}`;
    const about = { channel: "discord", chatId: channelId, sessionKey: "", attachments: [] };
    const { rest, log } = this.#options;
    try {
      await sendMessage(rest, channelId, { ...about, id, content, replyTo }, callMs, this.#signal);
    } catch (error) {
      if (!this.#signal.aborted) log.warn("a Discord notice was not sent", { channelId, error: messageOf(error) });
    }
  }

  /** Resolves when nothing is under way any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { chats } = this.#options.bot;
    this.#leaving.abort();
    this.#leaving[Symbol.dispose]();
    clearInterval(this.#positions);
    await this.#intake.settled();
    await Promise.all([chats.write(true).catch(() => undefined), this.#background.settled()]);
  }
}

async function fetchAfter(rest: DiscordRest, channelId: string, after: string, signal: AbortSignal) {
  const path = `/channels/${channelId}/messages`;
  const call = { method: "GET", path, query: { after, limit: "100" } } as const;
  return z.array(z.unknown()).parse(await rest.call(call, callMs, signal, callError));
}

function toFile({ url, filename, size, content_type: mime }: DiscordAttachment, isVoice: boolean): ReceivedFile {
  return {
    filename,
    mimeType: (mime ?? "application/octet-stream").split(";", 1)[0] ?? "",
    sizeBytes: size,
    isVoice: isVoice || undefined,
    read: (maxBytes, signal) => download("Discord", url, maxBytes, { signal }),
  };
}

function isMessageEvent(type: string): type is ChannelEvent["type"] {
  return type === "MESSAGE_CREATE" || type === "MESSAGE_UPDATE" || type === "MESSAGE_DELETE";
}
