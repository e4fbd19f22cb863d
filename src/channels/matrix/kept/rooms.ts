import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { ChannelRecords } from "../../channel.js";
import { asDocumented } from "../../wire/call.js";
import { type MatrixApi, part } from "../api.js";
import { eventsIn, type MatrixEvent } from "../event.js";
import { codeOf, title } from "../matrix-error.js";

const record = z.object({
  /** What is written there nobody else can read, the bot neither. */
  isEncrypted: z.boolean().optional(),
  /** Its people were told that the bot cannot read there. */
  isTold: z.boolean().optional(),
  /** The room that has taken its place. */
  replacedBy: z.string().optional(),
  /** It has taken the place of another: all that is in it is for the bot. */
  isUpgrade: z.boolean().optional(),
  /** The bot is in it, and has read it before. */
  isKnown: z.boolean().optional(),
});
export type RoomRecord = z.output<typeof record>;

const members = z.looseObject({ chunk: z.array(z.unknown()).default([]) });
const mostRooms = 2000;
const mostNames = 10_000;
/** Upgrades of upgrades that are followed. */
const deepest = 20;

interface People {
  readonly ids: ReadonlySet<string>;
}

/** What is known of the rooms of one account. Durable where the gateway gives records. */
export class Rooms {
  readonly #botId: string;
  readonly #records: ChannelRecords | undefined;
  readonly #rooms = new Map<string, RoomRecord>();
  readonly #people = new LRUCache<string, People>({ max: mostRooms });
  readonly #names = new LRUCache<string, string>({ max: mostNames });
  /** Rooms that were seen without encryption; a switch of it is noted. */
  readonly #open = new Set<string>();
  /** Direct chats by the person in them. */
  readonly #directs = new Map<string, string>();

  constructor(botId: string, records: ChannelRecords | undefined) {
    this.#botId = botId;
    this.#records = records;
    for (const { id, value } of records?.list() ?? []) {
      const { data } = record.safeParse(value);
      if (data !== undefined && id.startsWith(this.#prefix)) this.#rooms.set(id.slice(this.#prefix.length), data);
    }
  }

  get #prefix(): string {
    return `${this.#botId}/room/`;
  }

  of(roomId: string): RoomRecord {
    return this.#rooms.get(roomId) ?? {};
  }

  /** Resolves once it is durable. */
  async note(roomId: string, more: Partial<RoomRecord>): Promise<void> {
    const known = this.of(roomId);
    const next = { ...known, ...more };
    if (this.#rooms.has(roomId) && JSON.stringify(next) === JSON.stringify(known)) return;
    this.#rooms.set(roomId, next);
    await this.#records?.put(this.#prefix + roomId, next);
  }

  /** The bot is not in it any more. What has taken its place stays known. */
  async leave(roomId: string): Promise<void> {
    this.#people.delete(roomId);
    for (const [person, room] of this.#directs) if (room === roomId) this.#directs.delete(person);
    if (this.of(roomId).replacedBy !== undefined || !this.#rooms.delete(roomId)) return;
    await this.#records?.delete(this.#prefix + roomId);
  }

  /** The room that stands for this one today. */
  current(roomId: string): string {
    let room = roomId;
    for (let depth = 0; depth < deepest; depth += 1) {
      const next = this.#rooms.get(room)?.replacedBy;
      if (next === undefined) break;
      room = next;
    }
    return room;
  }

  /** A change of who is in the room, or of how they are called. */
  noteMember(roomId: string, { state_key: userId = "", content }: MatrixEvent): void {
    const isHere = content.membership === "join" || content.membership === "invite";
    if (isHere && content.displayname) this.#names.set(`${roomId} ${userId}`, content.displayname);
    const known = this.#people.get(roomId)?.ids;
    if (known !== undefined && known.has(userId) !== isHere) this.#people.delete(roomId);
  }

  /** How a person is called there; anybody can choose any name. */
  nameOf(roomId: string, userId: string): string | undefined {
    return this.#names.get(`${roomId} ${userId}`);
  }

  /** Who is in it or invited. @throws {ChannelError} */
  async peopleIn(roomId: string, api: MatrixApi, signal: AbortSignal): Promise<readonly string[]> {
    return [...(this.#people.get(roomId) ?? (await this.#ask(roomId, api, signal))).ids];
  }

  /** Only the bot and one other are in it or invited. @throws {ChannelError} */
  async isDirect(roomId: string, api: MatrixApi, signal: AbortSignal): Promise<boolean> {
    const people = this.#people.get(roomId) ?? (await this.#ask(roomId, api, signal));
    const isDirect = people.ids.size <= 2;
    const other = [...people.ids].find((id) => id !== this.#botId);
    if (isDirect && other !== undefined) this.#directs.set(other, roomId);
    return isDirect;
  }

  /** As the homeserver has it now, where nothing is known yet. @throws {ChannelError} */
  async isEncrypted(roomId: string, api: MatrixApi, signal: AbortSignal): Promise<boolean> {
    const { isEncrypted } = this.of(roomId);
    if (isEncrypted !== undefined || this.#open.has(roomId)) return isEncrypted === true;
    const path = `/client/v3/rooms/${part(roomId)}/state/m.room.encryption/`;
    try {
      await api.call({ path, what: "whether a room is encrypted" }, signal);
    } catch (error) {
      if (codeOf(error) !== "M_NOT_FOUND") throw error;
      this.#open.add(roomId);
      return this.of(roomId).isEncrypted === true;
    }
    await this.note(roomId, { isEncrypted: true });
    return true;
  }

  /** The direct chat with this person, where it is known. */
  directOf(userId: string): string | undefined {
    return this.#directs.get(userId);
  }

  noteDirect(userId: string, roomId: string): void {
    this.#directs.set(userId, roomId);
  }

  async #ask(roomId: string, api: MatrixApi, signal: AbortSignal): Promise<People> {
    const path = `/client/v3/rooms/${part(roomId)}/members`;
    const query = { not_membership: "leave" };
    const { chunk } = asDocumented(
      title,
      members,
      await api.call({ path, query, what: "the list of a room's people" }, signal),
    );
    const here = eventsIn(chunk).filter(
      ({ content: { membership } }) => membership === "join" || membership === "invite",
    );
    const people = { ids: new Set(here.map(({ state_key: id = "" }) => id)) };
    this.#people.set(roomId, people);
    for (const member of here) this.noteMember(roomId, member);
    return people;
  }
}
