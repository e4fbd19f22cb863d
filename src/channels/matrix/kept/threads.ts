import { z } from "zod";
import type { ChannelRecords } from "../../channel.js";

const record = z.object({ at: z.number() });

/** Threads that were spoken in last; in older ones people call the bot again. */
const mostThreads = 200;

/** Threads in rooms into which the bot was called: all that is written there is for it. Durable where the gateway gives records. */
export class Threads {
  readonly #prefix: string;
  readonly #records: ChannelRecords | undefined;
  /** By their first event, the oldest first. */
  readonly #threads = new Set<string>();

  constructor(botId: string, records: ChannelRecords | undefined) {
    this.#prefix = `${botId}/thread/`;
    this.#records = records;
    const kept = (records?.list() ?? []).flatMap(({ id, value }) => {
      const { data } = record.safeParse(value);
      return data === undefined || !id.startsWith(this.#prefix) ? [] : [{ id: id.slice(this.#prefix.length), ...data }];
    });
    for (const { id } of kept.sort((a, b) => a.at - b.at)) this.#threads.add(id);
  }

  has(root: string): boolean {
    return this.#threads.has(root);
  }

  /** Resolves once it is durable: true when it is new. */
  async add(root: string): Promise<boolean> {
    if (this.#threads.has(root)) return false;
    this.#threads.add(root);
    await this.#records?.put(this.#prefix + root, { at: Date.now() });
    for (const old of [...this.#threads].slice(0, -mostThreads)) await this.forget(old);
    return true;
  }

  async forget(root: string): Promise<void> {
    if (this.#threads.delete(root)) await this.#records?.delete(this.#prefix + root);
  }
}
