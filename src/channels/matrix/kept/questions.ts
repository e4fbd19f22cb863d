import { z } from "zod";
import type { Button } from "../../../bus/messages.js";
import type { ChannelRecords } from "../../channel.js";

const record = z.object({
  thread: z.string().optional(),
  /** What each sign stands for, in order. */
  values: z.array(z.string()),
  /** Our own signs below the question, as far as they are there. */
  signs: z.array(z.string()),
  askedAt: z.number(),
});
export type Question = z.output<typeof record>;

/** Older ones are forgotten: by then nobody waits for an answer any more. */
const mostQuestions = 200;

/** 1️⃣, 2️⃣ and so on, for an index from 0. */
export function numberSign(index: number): string {
  return index === 9 ? "🔟" : `${index + 1}\ufe0f\u20e3`;
}

/** Questions that can be answered by a sign below them. Durable where the gateway gives records. */
export class Questions {
  readonly #prefix: string;
  readonly #records: ChannelRecords | undefined;
  readonly #questions = new Map<string, Question>();

  constructor(botId: string, records: ChannelRecords | undefined) {
    this.#prefix = `${botId}/ask/`;
    this.#records = records;
    const kept = (records?.list() ?? []).flatMap(({ id, value }) => {
      const { data } = record.safeParse(value);
      return data === undefined || !id.startsWith(this.#prefix) ? [] : [[id.slice(this.#prefix.length), data] as const];
    });
    for (const [id, one] of kept.sort(([, a], [, b]) => a.askedAt - b.askedAt)) this.#questions.set(id, one);
  }

  /** Resolves once it is durable what its signs will stand for. */
  async ask(eventId: string, buttons: readonly Button[], thread: string | undefined): Promise<Question> {
    const known = this.#questions.get(eventId);
    if (known !== undefined) return known;
    const values = buttons.map(({ value }) => value);
    const question = { values, signs: [], askedAt: Date.now(), ...(thread === undefined ? {} : { thread }) };
    await this.#put(eventId, question);
    for (const old of [...this.#questions.keys()].slice(0, -mostQuestions)) await this.close(old);
    return question;
  }

  async addSign(eventId: string, sign: string): Promise<void> {
    const known = this.#questions.get(eventId);
    if (known !== undefined && !known.signs.includes(sign))
      await this.#put(eventId, { ...known, signs: [...known.signs, sign] });
  }

  of(eventId: string): Question | undefined {
    return this.#questions.get(eventId);
  }

  /** What a sign below a question stands for; undefined: it is not one of its own. */
  valueOf(eventId: string, key: string): string | undefined {
    const bare = (sign: string): string => sign.replaceAll("\ufe0f", "");
    const { values = [] } = this.#questions.get(eventId) ?? {};
    return values.find((_value, index) => bare(numberSign(index)) === bare(key));
  }

  async close(eventId: string): Promise<void> {
    if (this.#questions.delete(eventId)) await this.#records?.delete(this.#prefix + eventId);
  }

  async #put(eventId: string, question: Question): Promise<void> {
    this.#questions.set(eventId, question);
    await this.#records?.put(this.#prefix + eventId, question);
  }
}
