import type { Snowflakes } from "./wire.js";

export interface Chat {
  /** https://discord.com/developers/docs/resources/channel#channel-object-channel-types */
  readonly type: number;
  readonly parent?: string;
  /** The other person of a direct chat. */
  readonly user?: string;
}

/** The channels and threads of one server, and the direct chats with the bot. */
export class Chats {
  readonly guildId: string;
  readonly #ids: Snowflakes;
  readonly #chats = new Map<string, Chat>();

  constructor(ids: Snowflakes) {
    this.#ids = ids;
    this.guildId = ids.next();
  }

  has(id: string): boolean {
    return this.#chats.has(id);
  }

  get(id: string): Chat {
    return this.#chats.get(id) ?? { type: 0 };
  }

  isInGuild(id: string): boolean {
    return this.get(id).user === undefined;
  }

  dmOf(userId: string): string {
    for (const [id, { user }] of this.#chats) if (user === userId) return id;
    return this.#keep({ type: 1, user: userId });
  }

  add(parent?: string): string {
    return this.#keep(parent === undefined ? { type: 0 } : { type: 11, parent });
  }

  remove(id: string): void {
    this.#chats.delete(id);
  }

  #keep(chat: Chat): string {
    const id = this.#ids.next();
    this.#chats.set(id, chat);
    return id;
  }
}
