import { createHash } from "node:crypto";
import { z } from "zod";

/** Where they are kept: the engine's records. */
export interface SubscriptionRecords {
  get(id: string): unknown;
  put(id: string, value: unknown): Promise<void>;
  delete(id: string): Promise<void>;
  list(): readonly { readonly id: string; readonly value: unknown }[];
}

const subscription = z.object({
  /** Where its push service takes messages. */
  endpoint: z.string(),
  p256dh: z.string(),
  auth: z.string(),
  /** Which device has signed in with it; empty on a gateway without a token. */
  device: z.string(),
  language: z.enum(["en", "zh"]),
  /** No sound from 22:00 to 8:00, by the clock of the device. */
  quietNights: z.boolean(),
  /** The key of this gateway that it was made for. */
  senderKey: z.string(),
  /** Unix ms. */
  since: z.number(),
});

/** A browser that can be reached while its page is closed. */
export type Subscription = Readonly<z.infer<typeof subscription>>;

/** A device has one; who has none can still have some, of several browsers on this machine. */
const mostOfAll = 100;

/** The browsers that want to be told. */
export class Subscriptions {
  readonly #records: SubscriptionRecords;

  constructor(records: SubscriptionRecords) {
    this.#records = records;
  }

  /** The newest first. */
  all(): readonly Subscription[] {
    return this.#records
      .list()
      .flatMap(({ value }) => subscription.safeParse(value).data ?? [])
      .sort((a, b) => b.since - a.since);
  }

  find(endpoint: string): Subscription | undefined {
    return subscription.safeParse(this.#records.get(idOf(endpoint))).data;
  }

  async put(wanted: Subscription): Promise<void> {
    for (const { endpoint } of this.all().slice(mostOfAll - 1)) await this.remove(endpoint);
    for (const { endpoint, device } of this.all())
      if (device !== "" && device === wanted.device && endpoint !== wanted.endpoint) await this.remove(endpoint);
    await this.#records.put(idOf(wanted.endpoint), wanted);
  }

  async remove(endpoint: string): Promise<void> {
    await this.#records.delete(idOf(endpoint));
  }

  async removeOf(isGone: (subscription: Subscription) => boolean): Promise<void> {
    for (const each of this.all()) if (isGone(each)) await this.remove(each.endpoint);
  }
}

/** An endpoint is long, and who knows it can reach the browser's push service. */
function idOf(endpoint: string): string {
  return createHash("sha256").update(endpoint).digest("hex");
}
