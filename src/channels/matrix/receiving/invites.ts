import { z } from "zod";
import { ChannelError, messageOf } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import { backoffMs } from "../../../util/async/backoff.js";
import { sleep } from "../../../util/async/sleep.js";
import type { ChannelRecords } from "../../channel.js";
import { untilAnswered } from "../../wire/until-answered.js";
import type { Account, Bot } from "../account.js";
import { part } from "../api.js";
import { type Content, type MatrixEvent, parseContent } from "../event.js";
import { isAccountTrouble } from "../matrix-error.js";

const record = z.object({ by: z.string(), at: z.number() });
type Invite = z.output<typeof record>;

export interface InvitesOptions {
  readonly account: Account;
  readonly bot: Bot;
  /** Whether somebody may bring the bot into this room. */
  readonly isWelcome: (senderId: string, roomId: string) => boolean;
  readonly records: ChannelRecords;
  readonly log: Logger;
}

/** More than these wait for nobody: the oldest are forgotten. */
const mostInvites = 100;
/** Joining a room of another server takes long. */
const joinMs = 120_000;
const joinTries = 5;
const retry = { firstMs: 500, longestMs: 10_000 };

/** Rooms that the bot is asked into, and rooms that have taken the place of others. */
export class Invites {
  readonly #options: InvitesOptions;
  readonly #signal: AbortSignal;
  readonly #open = new Map<string, Invite>();
  readonly #joining = new Set<string>();

  constructor(options: InvitesOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    for (const { id, value } of options.records.list()) {
      const { data } = record.safeParse(value);
      if (data !== undefined && id.startsWith(this.#prefix)) this.#open.set(id.slice(this.#prefix.length), data);
    }
  }

  get #prefix(): string {
    return `${this.#options.bot.id}/invite/`;
  }

  /** Resolves once it is durable that somebody asks the bot into a room. */
  async take(roomId: string, by: string): Promise<void> {
    const { records, log } = this.#options;
    if (this.#open.get(roomId)?.by === by) return;
    const invite = { by, at: Date.now() };
    await records.put(this.#prefix + roomId, invite);
    this.#open.set(roomId, invite);
    log.info(`${by} invites the bot on Matrix`, { roomId, sender: by });
    for (const old of [...this.#open.keys()].slice(0, -mostInvites)) await this.forget(old);
  }

  /** The bot is in the room, or was never let in. */
  async forget(roomId: string): Promise<void> {
    if (this.#open.delete(roomId)) await this.#options.records.delete(this.#prefix + roomId);
  }

  /** Goes where it is asked to by who may talk. Others' invitations stay open: they may be let in later. */
  async accept(): Promise<void> {
    const { isWelcome, log } = this.#options;
    const due = [...this.#open].filter(([room, { by }]) => !this.#joining.has(room) && isWelcome(by, room));
    await Promise.all(
      due.map(async ([roomId, { by }]) => {
        this.#joining.add(roomId);
        try {
          if (!(await this.#join(roomId, by))) return;
          log.info("the bot has joined a room on Matrix", { roomId, sender: by });
          await this.forget(roomId);
        } finally {
          this.#joining.delete(roomId);
        }
      }),
    );
  }

  /**
   * Another room has taken the place of this one: the bot moves, and so do replies that wait. Both rooms have to say so: else
   * somebody who runs one could have its answers shown in another.
   */
  async follow(roomId: string, { content, sender }: MatrixEvent): Promise<void> {
    const { bot, log } = this.#options;
    const next = content.replacement_room;
    if (next === undefined || !next.startsWith("!") || next === roomId) return;
    if (bot.rooms.of(roomId).replacedBy === next) return;
    const seen = await this.#createdAs(next);
    if (seen === undefined) {
      await bot.rooms.note(next, { isUpgrade: true });
      if (!(await this.#join(next, sender))) return;
    }
    const { predecessor } = seen ?? (await this.#createdAs(next)) ?? {};
    if (predecessor?.room_id === roomId) {
      await bot.rooms.note(roomId, { replacedBy: next });
      log.info("a room on Matrix was replaced by another", { roomId, next });
      return;
    }
    log.warn("a room on Matrix names another one that does not say it has taken its place", { roomId, next });
    if (seen !== undefined) return;
    await bot.rooms.note(next, { isUpgrade: false });
    await this.#leave(next);
  }

  /** What a room says it began as; undefined: the bot is not in it. @throws {ChannelError} */
  async #createdAs(roomId: string): Promise<Content | undefined> {
    const { account } = this.#options;
    const call = { path: `/client/v3/rooms/${part(roomId)}/state/m.room.create/`, what: "how a room began" };
    const ask = async (): Promise<Content | undefined> => {
      try {
        return parseContent(await account.api.call(call, this.#signal));
      } catch (error) {
        if (error instanceof ChannelError && !error.retryable && !isAccountTrouble(error)) return undefined;
        throw error;
      }
    };
    return await untilAnswered(ask, this.#signal, isAccountTrouble);
  }

  async #leave(roomId: string): Promise<void> {
    const path = `/client/v3/rooms/${part(roomId)}/leave`;
    const call = { method: "POST", path, body: {}, what: "to leave a room" } as const;
    try {
      await this.#options.account.api.call(call, this.#signal);
    } catch (error) {
      this.#options.log.warn("the bot cannot leave a room on Matrix", { roomId, error: messageOf(error) });
    }
  }

  /** False: it cannot be joined. What is open is tried again with the next answer of the homeserver. */
  async #join(roomId: string, by: string): Promise<boolean> {
    const { account, log } = this.#options;
    const server = by.slice(by.indexOf(":") + 1);
    const path = `/client/v3/join/${part(roomId)}`;
    const call = { method: "POST", path, query: { via: server, server_name: server }, body: {}, ms: joinMs } as const;
    for (let tries = 1; ; tries++) {
      try {
        await account.api.call({ ...call, what: "to join a room" }, this.#signal);
        return true;
      } catch (error) {
        if (this.#signal.aborted || isAccountTrouble(error)) throw error;
        const canHelp = error instanceof ChannelError && error.retryable && tries < joinTries;
        if (!canHelp) {
          log.warn("the bot cannot join a room on Matrix", { roomId, error: messageOf(error) });
          await this.forget(roomId);
          return false;
        }
        await sleep(Math.max(backoffMs(tries, retry), error.retryAfterMs ?? 0), this.#signal);
      }
    }
  }
}
