import { LRUCache } from "lru-cache";
import { z } from "zod";
import { messageOf } from "../../errors.js";
import type { Logger } from "../../log.js";
import type { ChannelContext } from "../channel.js";
import { asDocumented } from "../wire/call.js";
import { SlackApi, type SlackApiOptions, title } from "./api.js";
import { Places } from "./places.js";
import { isTokenTrouble } from "./slack-error.js";
import type { Names } from "./text.js";

const identity = z.looseObject({ user_id: z.string(), team_id: z.string(), bot_id: z.string().nullish() });
const user = z.looseObject({
  user: z.looseObject({
    name: z.string().nullish(),
    real_name: z.string().nullish(),
    profile: z.looseObject({ display_name: z.string().nullish(), real_name: z.string().nullish() }).nullish(),
  }),
});
const opened = z.looseObject({ channel: z.looseObject({ id: z.string() }) });

const mostNames = 2000;
const nameMs = 3000;

/** The bot itself. */
export interface Bot {
  readonly id: string;
  /** Of the workspace. */
  readonly team: string;
  /** As the author of its messages. */
  readonly botId: string | undefined;
  readonly places: Places;
}

/** The app's account at Slack: its API, who it is, and how people are called. Outlives a run. */
export class Account {
  readonly api: SlackApi;
  readonly #context: ChannelContext;
  readonly #log: Logger;
  readonly #names = new LRUCache<string, { readonly name: string | undefined }>({ max: mostNames });
  readonly #directs = new LRUCache<string, string>({ max: mostNames });
  #bot: Bot | undefined;
  #mayAskNames = true;

  constructor(options: SlackApiOptions & { readonly log: Logger }, context: ChannelContext) {
    this.api = new SlackApi(options);
    this.#context = context;
    this.#log = options.log;
  }

  /** @throws {ChannelError} */
  async identify(signal: AbortSignal): Promise<Bot> {
    if (this.#bot !== undefined) return this.#bot;
    const {
      user_id: id,
      team_id: team,
      bot_id: botId,
    } = asDocumented(title, identity, await this.api.call("auth.test", {}, signal));
    const places = await Places.open(team, this.#context);
    // Another call may have been faster: what it has noted of the places stays.
    this.#bot ??= { id, team, botId: botId ?? undefined, places };
    return this.#bot;
  }

  /** The channel of a chat: of a person's id it is their direct chat. @throws {ChannelError} */
  async channelOf(chatId: string, signal: AbortSignal): Promise<string> {
    if (!/^[UW][A-Z0-9]+$/.test(chatId)) return chatId;
    const known = this.#directs.get(chatId);
    if (known !== undefined) return known;
    const { channel } = asDocumented(
      title,
      opened,
      await this.api.call("conversations.open", { users: chatId }, signal),
    );
    this.#directs.set(chatId, channel.id);
    return channel.id;
  }

  names(botId: string): Names {
    return { botId, nameOf: (userId) => this.#names.get(userId)?.name };
  }

  /** Asks for names that are not known yet. What cannot be learnt stays an id. Never rejects. */
  async learn(userIds: readonly string[], signal: AbortSignal): Promise<void> {
    const unknown = [...new Set(userIds)].filter((id) => !this.#names.has(id));
    if (this.#mayAskNames) await Promise.all(unknown.slice(0, 20).map((id) => this.#learn(id, signal)));
  }

  async #learn(id: string, signal: AbortSignal): Promise<void> {
    try {
      const {
        name,
        real_name: real,
        profile,
      } = asDocumented(title, user, await this.api.call("users.info", { user: id }, signal, { ms: nameMs })).user;
      const shown = profile?.display_name || profile?.real_name || real || name || undefined;
      this.#names.set(id, { name: shown });
    } catch (error) {
      if (signal.aborted) return;
      this.#log.debug("a name on Slack is not known", { id, error: messageOf(error) });
      if (isTokenTrouble(error)) this.#mayAskNames = false;
    }
  }
}
