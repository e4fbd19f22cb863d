import { z } from "zod";
import { InOrder } from "../../../util/async/in-order.js";
import type { ChannelRecords } from "../../channel.js";

const record = z.object({ token: z.string().optional(), at: z.number() });

/** How far an account has heard: a token of `/sync`, and when it was given, in Unix ms. */
export type Heard = z.output<typeof record>;

/** An answer of the homeserver without anything in it is kept at most so often. */
const quietMs = 600_000;

/** Up to where everything is durable. Outlives a run, and the process where the gateway gives records. */
export class Progress {
  readonly #id: string;
  readonly #records: ChannelRecords | undefined;
  readonly #writes = new InOrder();
  #heard: Heard | undefined;
  #writtenAt = 0;

  constructor(botId: string, records: ChannelRecords | undefined) {
    this.#id = `${botId}/since`;
    this.#records = records;
    this.#heard = record.safeParse(records?.get(this.#id)).data;
  }

  /** Undefined: nothing was ever heard. */
  get heard(): Heard | undefined {
    return this.#heard;
  }

  /** Everything up to here is durable. `matters`: something was in it. */
  async move(heard: Heard, matters: boolean): Promise<void> {
    this.#heard = heard;
    if (matters || heard.at - this.#writtenAt > quietMs) await this.write();
  }

  async write(): Promise<void> {
    await this.#writes.run(async () => {
      const heard = this.#heard;
      if (heard === undefined) return;
      this.#writtenAt = heard.at;
      await this.#records?.put(this.#id, heard);
    });
  }
}
