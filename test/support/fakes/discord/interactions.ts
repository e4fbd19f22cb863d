import type { Chats } from "./chats.js";
import type { FakeDiscordGateway } from "./gateway.js";
import type { FakeDiscordUser } from "./messages.js";
import type { Previews } from "./previews.js";
import { type Json, type Reply, refusal, type Snowflakes } from "./wire.js";

export interface FakeInteractionReply {
  readonly text: string;
  readonly flags: number;
  /** Discord was told to wait first. */
  readonly wasDeferred: boolean;
}

interface Callback {
  readonly type: number;
  readonly data: { readonly content: string; readonly flags: number };
}

/** Presses of buttons and commands of the menu, and what they are answered. */
export class Interactions {
  readonly applicationId: string;
  readonly replies: FakeInteractionReply[] = [];
  readonly #ids: Snowflakes;
  readonly #chats: Chats;
  readonly #gateway: FakeDiscordGateway;
  readonly #previews: Previews;
  readonly #waiting = new Map<string, { readonly at: number; wasDeferred: boolean }>();

  constructor(applicationId: string, ids: Snowflakes, chats: Chats, gateway: FakeDiscordGateway, previews: Previews) {
    this.applicationId = applicationId;
    this.#ids = ids;
    this.#chats = chats;
    this.#gateway = gateway;
    this.#previews = previews;
  }

  press(channelId: string, user: FakeDiscordUser, customId: string): void {
    this.#begin(channelId, user, { type: 3, data: { custom_id: customId, component_type: 2 } });
  }

  command(channelId: string, user: FakeDiscordUser, name: string, text: string | undefined): void {
    const options = text === undefined ? [] : [{ name: "text", type: 3, value: text }];
    this.#begin(channelId, user, { type: 2, data: { id: this.#ids.next(), name, options } });
  }

  /** Undefined when the call is not about an interaction that there is. */
  answer(call: string, body: Buffer): Reply | undefined {
    const [, token = ""] = /^POST \/interactions\/\d+\/([^/]+)\/callback$/.exec(call) ?? [];
    const [, later = ""] = /^PATCH \/webhooks\/\d+\/([^/]+)\/messages\/@original$/.exec(call) ?? [];
    if (this.#waiting.has(token)) return this.#callBack(token, JSON.parse(body.toString()));
    if (this.#waiting.get(later)?.wasDeferred === true) return this.#answerLater(later, JSON.parse(body.toString()));
    return undefined;
  }

  #begin(channelId: string, user: FakeDiscordUser, about: Json): void {
    const token = `interaction-${this.#ids.next()}`;
    this.#waiting.set(token, { at: Date.now(), wasDeferred: false });
    const { type, parent } = this.#chats.get(channelId);
    this.#gateway.dispatch("INTERACTION_CREATE", {
      id: this.#ids.next(),
      application_id: this.applicationId,
      token,
      channel_id: channelId,
      channel: { id: channelId, type, parent_id: parent ?? null },
      ...(this.#chats.isInGuild(channelId) ? { guild_id: this.#chats.guildId, member: { user } } : { user }),
      ...about,
    });
  }

  #callBack(token: string, { type, data }: Callback): Reply {
    const waiting = this.#waiting.get(token);
    if (waiting === undefined || Date.now() - waiting.at > 3000) return refusal(404, "Unknown interaction", 10_062);
    if (type === 5) {
      waiting.wasDeferred = true;
      this.#previews.keepFlags(token, data.flags);
    } else {
      this.replies.push({ text: data.content, flags: data.flags, wasDeferred: false });
      this.#previews.lookUp(token, data.content, data.flags);
    }
    return { status: 204 };
  }

  #answerLater(token: string, { content, flags }: { readonly content: string; readonly flags?: number }): Reply {
    this.replies.push({ text: content, flags: 64, wasDeferred: true });
    this.#previews.lookUp(token, content, flags);
    return { status: 200, body: { id: this.#ids.next() } };
  }
}
