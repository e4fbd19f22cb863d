import { messageOf } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import { InOrder } from "../../../util/async/in-order.js";
import type { OwnChannelContext, Publish, PublishOutcome } from "../../channel.js";
import { escapeControl } from "../../formatting/dialects/slack-mrkdwn.js";
import type { Account, Bot } from "../account.js";
import { isDirect } from "../message.js";
import type { BlockPress, SlashCommand } from "./envelope.js";

export interface InteractionsOptions {
  readonly account: Account;
  readonly bot: Bot;
  readonly publish: Publish;
  readonly context: Pick<OwnChannelContext, "press" | "commands">;
  readonly log: Logger;
}

const elsewhere = "I am not in this workspace. Please write to me in the one that I belong to.";
const notMyChat = "I am not in this chat. Please write to me in our own one.";
const tryAgain = "Sorry, this could not be taken. Please try it again.";

/** Buttons that are pressed, and slash commands: what people do besides writing. */
export class Interactions {
  readonly #options: InteractionsOptions;
  readonly #signal: AbortSignal;
  readonly #tells = new InOrder<string>();

  constructor(options: InteractionsOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  /** Resolves once the press is settled. The word on it only its person sees: small where it was taken. @throws */
  async takePress({ user, channel, message, actions }: BlockPress): Promise<() => Promise<void>> {
    const { account, context } = this.#options;
    const thread = message?.thread_ts;
    const value = actions[0]?.value ?? "";
    const outcome = await context.press({
      chatId: channel.id,
      ...(thread === undefined ? {} : { thread }),
      chatType: isDirect(channel.id) ? "dm" : "group",
      senderId: user.id,
      senderName: user.name,
      value,
    });
    const text = escapeControl(outcome.text);
    const quiet = [{ type: "context", elements: [{ type: "mrkdwn", text, verbatim: true }] }];
    const blocks = outcome.status === "taken" ? { blocks: quiet } : {};
    const args = { channel: channel.id, user: user.id, thread_ts: thread, text, parse: "none", ...blocks };
    return async () =>
      await this.#tells.run(
        async () => void (await account.api.call("chat.postEphemeral", args, this.#signal)),
        channel.id,
      );
  }

  /** Resolves with the word for who sent the command, once it is settled. Never rejects. */
  async takeCommand(sent: SlashCommand): Promise<string> {
    const { bot, publish, log } = this.#options;
    const refusal = await this.#refusalOf(sent);
    if (refusal !== undefined) return refusal;
    const { channel_id: channel, user_id: senderId, user_name: senderName, trigger_id: trigger } = sent;
    const content = this.#contentOf(sent);
    try {
      const outcome = await publish({
        chatId: channel,
        chatType: isDirect(channel) ? "dm" : "group",
        addressed: true,
        senderId,
        senderName,
        content,
        dedupId: `slack:${bot.team}:command:${trigger ?? `${senderId}:${Date.now()}`}`,
      });
      return wordOn(outcome, content);
    } catch (error) {
      log.error("a Slack command could not be passed on", { content, error });
      return tryAgain;
    }
  }

  /** An app can be in several workspaces, and a command can be given where the bot is not: also in a chat of two people. */
  async #refusalOf({ channel_id: channel, user_id: user, team_id: team, enterprise_id: enterprise }: SlashCommand) {
    const { account, bot, log } = this.#options;
    if (team !== undefined && team !== bot.team && enterprise !== bot.team) return elsewhere;
    if (!isDirect(channel) || bot.places.isKnown({ channel })) return undefined;
    try {
      return (await account.channelOf(user, this.#signal)) === channel ? undefined : notMyChat;
    } catch (error) {
      log.debug("whose chat a Slack command was given in is not known", { channel, error: messageOf(error) });
      return notMyChat;
    }
  }

  /** `/maxclaw stop` is `/stop`, and so is a command of the app that is called `/stop`; `/maxclaw hello` is said. */
  #contentOf({ command, text }: SlashCommand): string {
    const known = this.#options.context.commands ?? [];
    const isKnown = (name: string): boolean => known.some((one) => one.command.replace(/^\//, "") === name);
    const words = text.trim();
    if (isKnown(command.slice(1))) return `${command} ${words}`.trim();
    const first = words.split(/\s/, 1)[0] ?? "";
    if (words === "") return isKnown("help") ? "/help" : command;
    return isKnown(first) ? `/${words}` : words;
  }
}

function wordOn(outcome: PublishOutcome, content: string): string {
  if (outcome.status === "busy") return outcome.reply || tryAgain;
  if (outcome.status === "refused") return outcome.reply ?? "I cannot answer you here.";
  return `\`${content.replaceAll("`", "'")}\``;
}
