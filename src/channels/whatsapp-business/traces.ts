import { LRUCache } from "lru-cache";
import { z } from "zod";
import { within } from "../../util/async/within.js";
import type { ChannelRecords } from "../channel.js";

const record = z.object({ id: z.string(), at: z.number() });

/** What is said about a message that was sent without an answer is of no use later than this. */
const keptMs = 2 * 24 * 3600 * 1000;
const mostKnown = 2000;
const prefix = "sent:";

/**
 * Which of our messages WhatsApp has shown although its answer did not come: with each status it gives back the id of ours
 * that the message was sent with. Durable, so that it is known after a crash too.
 */
export class Traces {
  readonly #records: ChannelRecords;
  /** Messages whose answer came: nobody has to look for these. */
  readonly #answered = new LRUCache<string, true>({ max: mostKnown });
  readonly #waiting = new Map<string, (id: string | undefined) => void>();

  constructor(records: ChannelRecords) {
    this.#records = records;
  }

  noteAnswered(outboundId: string): void {
    this.#answered.set(outboundId, true);
  }

  /** WhatsApp has told what happened to it; `id`: of the message there. Resolves once it is durable. */
  async noteStatus(outboundId: string, id: string, isShown: boolean): Promise<void> {
    if (this.#answered.has(outboundId)) return;
    const key = `${prefix}${outboundId}`;
    if (isShown && this.#records.get(key) === undefined) await this.#records.put(key, { id, at: Date.now() });
    this.#waiting.get(outboundId)?.(isShown ? id : undefined);
  }

  /** The message's id there, as soon as WhatsApp tells; undefined when it has not within `ms`. */
  async find(outboundId: string, ms: number, signal: AbortSignal): Promise<string | undefined> {
    const known = this.#known(outboundId);
    if (known !== undefined) return known;
    const told = new Promise<string | undefined>((resolve) => this.#waiting.set(outboundId, resolve));
    try {
      return await within(told, { ms, signal });
    } catch {
      // Nothing was told in time.
      return this.#known(outboundId);
    } finally {
      this.#waiting.delete(outboundId);
    }
  }

  /** Forgets what is too old to be looked for. */
  async tidy(now = Date.now()): Promise<void> {
    for (const { id, value } of this.#records.list()) {
      const at = record.safeParse(value).data?.at ?? 0;
      if (id.startsWith(prefix) && now - at > keptMs) await this.#records.delete(id);
    }
  }

  #known(outboundId: string): string | undefined {
    return record.safeParse(this.#records.get(`${prefix}${outboundId}`)).data?.id;
  }
}
