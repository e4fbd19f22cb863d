import { createHmac } from "node:crypto";
import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

const againMs = 20;
/** So long the next request waits for the answer to the one before it, so that they arrive in order. */
const orderMs = 150;
const mostTogether = 100;

/** What Meta posts: parts of it can be put together. */
export interface Notification {
  readonly object: string;
  readonly entry: readonly object[];
}

/**
 * Meta's side of a webhook: brings each notification until it is answered with 200, several at once when there are many, and
 * hardly waits with the next.
 */
export class WebhookLine implements AsyncDisposable {
  /** Answers so far. */
  readonly statuses: number[] = [];
  readonly #appSecret: string;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #stopped = new AbortController();
  readonly #working = new Set<Promise<void>>();
  #waiting: Notification[] = [];
  #isBringing = false;
  #cuts = 0;
  #url: string | undefined;

  constructor(appSecret: string) {
    this.#appSecret = appSecret;
  }

  /** Where notifications go from now on. */
  open(url: string): void {
    this.#url = url;
  }

  /** The next request breaks once it is on its way: nobody knows whether it arrived. */
  cutNext(): void {
    this.#cuts += 1;
  }

  bring(notification: Notification): void {
    this.#waiting.push(notification);
    if (this.#isBringing) return;
    this.#isBringing = true;
    this.#own(this.#bringAll());
  }

  /** One request, as anybody can make it. `signature`: default the true one. */
  post(body: string, signature = this.sign(body)): Promise<number> {
    return new Promise((resolve, reject) => {
      const call = request(this.#url ?? "", {
        method: "POST",
        agent: this.#agent,
        headers: { "content-type": "application/json", "x-hub-signature-256": signature },
        signal: this.#stopped.signal,
      });
      call.on("error", reject);
      call.on("response", (response) => {
        response.resume();
        response.on("error", reject);
        response.on("end", () => resolve(response.statusCode ?? 0));
      });
      call.end(body);
      if (this.#cuts === 0) return;
      this.#cuts -= 1;
      call.on("finish", () => call.destroy(new Error("cut")));
    });
  }

  sign(body: string): string {
    return `sha256=${createHmac("sha256", this.#appSecret).update(body).digest("hex")}`;
  }

  async #bringAll(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#stopped.signal.aborted) {
      const together = this.#waiting.splice(0, mostTogether);
      const [{ object } = { object: "" }] = together;
      const body = JSON.stringify({ object, entry: together.flatMap(({ entry }) => entry) });
      await this.#begin(body);
    }
    this.#isBringing = false;
  }

  /** Resolves when the next may follow. */
  #begin(body: string): Promise<void> {
    return new Promise((resolve) => this.#own(this.#untilTaken(body, resolve).finally(resolve)));
  }

  async #untilTaken(body: string, onArrived: () => void): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      const answered = this.#url === undefined ? Promise.resolve(0) : this.post(body).catch(() => 0);
      // Where nobody listens yet, what comes later waits too.
      void answered.then((status) => (status === 0 ? undefined : onArrived()));
      const late = setTimeout(onArrived, orderMs);
      const status = await answered;
      clearTimeout(late);
      if (status !== 0) this.statuses.push(status);
      if (status === 200) return;
      await pause(againMs, undefined, { signal: this.#stopped.signal }).catch(() => undefined);
    }
  }

  #own(work: Promise<void>): void {
    const done = work.finally(() => this.#working.delete(done));
    this.#working.add(done);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped.abort();
    this.#agent.destroy();
    await Promise.all(this.#working);
  }
}
