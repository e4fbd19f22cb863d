import { z } from "zod";
import { EngineError, messageOf } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import type { ChannelRecords } from "../../channel.js";
import type { PassedOn } from "./albums.js";

/** More than these are not parked, and one chat gets half of it. */
const most = { count: 1000, bytes: 4 * 1024 * 1024 };

const record = z.object({
  update: z.looseObject({ update_id: z.number().int() }),
  chatId: z.string(),
  /** Of a part of an album: what of the album had been passed on before it. */
  after: z.object({ ids: z.array(z.string().optional()), addressed: z.boolean() }).optional(),
});

/** An update as Telegram gave it, and what cannot be told from it later. */
export interface ParkedUpdate {
  readonly update: { readonly update_id: number };
  readonly chatId: string;
  readonly after?: PassedOn | undefined;
}

interface Size {
  readonly chatId: string;
  readonly bytes: number;
}

/**
 * Updates that cannot be finished yet. They are durable here, so that Telegram may forget them and gives those behind
 * them. Without records there is no room for any.
 */
export class Parking {
  readonly #records: ChannelRecords | undefined;
  readonly #prefix: string;
  readonly #log: Logger;
  readonly #sizes = new Map<number, Size>();
  /** Records that this run has taken up or written. */
  readonly #known = new Set<string>();

  constructor(records: ChannelRecords | undefined, botId: number, log: Logger) {
    this.#records = records;
    this.#prefix = `parked:${botId}:`;
    this.#log = log;
  }

  /**
   * What an earlier run or process has left, in the order of the updates; asked again, what has come since. Another node may
   * park an update at the moment in which it loses its lease: nobody but the one that has it now would find that.
   */
  load(): readonly ParkedUpdate[] {
    const left = (this.#records?.list() ?? []).filter(({ id }) => id.startsWith(this.#prefix) && !this.#known.has(id));
    const parked = left.flatMap(({ id, value }) => {
      this.#known.add(id);
      const { data } = record.safeParse(value);
      if (data === undefined) this.#log.error("a parked Telegram update cannot be read, and is left out", { id });
      return data ?? [];
    });
    for (const one of parked) this.#sizes.set(one.update.update_id, sizeOf(one));
    return parked.sort((a, b) => a.update.update_id - b.update.update_id);
  }

  /** `kept`: it is durable now. `full`: there is no room for more. `failed`: it may be tried again. */
  async put(one: ParkedUpdate): Promise<"kept" | "full" | "failed"> {
    if (this.#records === undefined) return "failed";
    if (!this.#hasRoomFor(one)) return "full";
    const { update_id: id } = one.update;
    this.#known.add(this.#nameOf(id));
    try {
      await this.#records.put(this.#nameOf(id), one);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      this.#known.delete(this.#nameOf(id));
      this.#log.warn(`a Telegram update could not be parked: ${messageOf(error)}`, { updateId: id });
      return "failed";
    }
    this.#sizes.set(id, sizeOf(one));
    return "kept";
  }

  /** The update is taken, or never will be. One that cannot be removed now is known by its id when it comes again. */
  async remove(id: number): Promise<void> {
    this.#sizes.delete(id);
    try {
      await this.#records?.delete(this.#nameOf(id));
      this.#known.delete(this.#nameOf(id));
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      this.#log.warn(`a parked Telegram update could not be removed: ${messageOf(error)}`, { updateId: id });
    }
  }

  #nameOf(updateId: number): string {
    return `${this.#prefix}${updateId}`;
  }

  #hasRoomFor(one: ParkedUpdate): boolean {
    const { bytes: needed } = sizeOf(one);
    const all = [...this.#sizes.values()];
    const ofChat = all.filter(({ chatId }) => chatId === one.chatId);
    const fits = (sizes: readonly Size[], share: number): boolean =>
      sizes.length < most.count * share && sizes.reduce((sum, { bytes }) => sum + bytes, needed) <= most.bytes * share;
    return fits(all, 1) && fits(ofChat, 0.5);
  }
}

function sizeOf(one: ParkedUpdate): Size {
  return { chatId: one.chatId, bytes: Buffer.byteLength(JSON.stringify(one)) };
}
