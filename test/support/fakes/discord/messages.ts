import type { Attachments, FakeDiscordFile } from "./attachments.js";
import type { Chats } from "./chats.js";
import type { FakeDiscordGateway } from "./gateway.js";
import type { Json, Snowflakes } from "./wire.js";

export interface FakeDiscordUser {
  readonly id: string;
  readonly username: string;
  readonly bot?: boolean;
}

/** A message as it is in a channel now. */
export interface FakeDiscordMessage {
  readonly id: string;
  readonly channelId: string;
  readonly author: FakeDiscordUser;
  content: string;
  readonly nonce?: string | undefined;
  readonly files: readonly FakeDiscordFile[];
  readonly replyTo?: string | undefined;
  components: readonly { readonly components: readonly { readonly label: string; readonly custom_id: string }[] }[];
  /** What else is on the wire. */
  readonly extra: Readonly<Record<string, unknown>>;
}

export interface FakeDiscordWrite {
  readonly channelId: string;
  readonly author: FakeDiscordUser;
  readonly content?: string;
  readonly files?: readonly FakeDiscordFile[];
  readonly isVoice?: boolean;
  /** A message that it replies to: of the channel, or made up. */
  readonly replyTo?: {
    readonly id: string;
    readonly content: string;
    readonly author: FakeDiscordUser;
    readonly files?: readonly FakeDiscordFile[];
  };
  readonly mentions?: readonly FakeDiscordUser[];
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** Everything that is written, by whomever; the gateway tells about it. */
export class Messages {
  readonly #ids: Snowflakes;
  readonly #chats: Chats;
  readonly #attachments: Attachments;
  readonly #gateway: FakeDiscordGateway;
  readonly #all: FakeDiscordMessage[] = [];

  constructor(ids: Snowflakes, chats: Chats, attachments: Attachments, gateway: FakeDiscordGateway) {
    this.#ids = ids;
    this.#chats = chats;
    this.#attachments = attachments;
    this.#gateway = gateway;
  }

  of(author: FakeDiscordUser): readonly FakeDiscordMessage[] {
    return this.#all.filter((one) => one.author.id === author.id);
  }

  in(channelId: string): readonly FakeDiscordMessage[] {
    return this.#all.filter((one) => one.channelId === channelId);
  }

  find(id: string): FakeDiscordMessage {
    const message = this.#all.find((one) => one.id === id);
    if (message === undefined) throw new Error(`There is no message ${id}`);
    return message;
  }

  show(message: Omit<FakeDiscordMessage, "id">): FakeDiscordMessage {
    const shown = { id: this.#ids.next(), ...message };
    this.#all.push(shown);
    this.#gateway.dispatch("MESSAGE_CREATE", this.toWire(shown, true));
    return shown;
  }

  /** A person writes it. */
  write({ channelId, author, content = "", files = [], ...about }: FakeDiscordWrite): FakeDiscordMessage {
    const { isVoice, replyTo, mentions = [], extra = {} } = about;
    return this.show({
      channelId,
      author,
      content,
      files,
      replyTo: replyTo?.id,
      components: [],
      extra: {
        mentions,
        ...(isVoice === true ? { flags: 1 << 13 } : {}),
        ...(replyTo === undefined ? {} : this.#reference(replyTo)),
        ...extra,
      },
    });
  }

  /** A person changes it. */
  edit(id: string, content: string): void {
    const message = this.find(id);
    message.content = content;
    const edited_timestamp = new Date().toISOString();
    this.#gateway.dispatch("MESSAGE_UPDATE", { ...this.toWire(message, true), edited_timestamp });
  }

  /** Nobody is told. */
  remove(id: string): void {
    this.#all.splice(this.#all.indexOf(this.find(id)), 1);
  }

  /** A person takes it back. */
  delete(id: string): void {
    const { channelId } = this.find(id);
    this.remove(id);
    this.#gateway.dispatch("MESSAGE_DELETE", { id, channel_id: channelId });
  }

  toWire(message: FakeDiscordMessage, isEvent: boolean): Json {
    return {
      id: message.id,
      channel_id: message.channelId,
      ...(isEvent && this.#chats.isInGuild(message.channelId) ? { guild_id: this.#chats.guildId } : {}),
      ...(isEvent && message.nonce !== undefined ? { nonce: message.nonce } : {}),
      type: message.replyTo === undefined ? 0 : 19,
      author: message.author,
      content: message.content,
      edited_timestamp: null,
      mentions: [],
      components: message.components,
      attachments: message.files.map((file) => this.#attachments.toWire(file)),
      ...message.extra,
    };
  }

  #reference(replyTo: NonNullable<FakeDiscordWrite["replyTo"]>): Json {
    const attachments = (replyTo.files ?? []).map((file) => this.#attachments.toWire(file));
    return {
      message_reference: { type: 0, message_id: replyTo.id },
      referenced_message: { ...replyTo, attachments },
    };
  }
}
