import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { messageOf } from "../errors.js";
import type { Logger } from "../log.js";
import { backoffMs } from "../util/async/backoff.js";
import { linked } from "../util/async/linked.js";
import { sleep } from "../util/async/sleep.js";
import { settledWithin } from "../util/async/within.js";
import type { TelemetrySettings } from "./settings.js";
import { type Span, toAttributes } from "./span.js";

export interface ExporterOptions extends Omit<TelemetrySettings, "content"> {
  readonly version: string;
  readonly log: Logger;
  /** A batch goes out after this time at the latest. Default 5000. */
  readonly waitMs?: number;
  /** How long the last batches may take when the gateway stops. Default 3000. */
  readonly lastMs?: number;
  /** Before a batch is sent again. Default 1000. */
  readonly retryMs?: number;
}

const mostWaiting = 2048;
const batchSize = 256;
const attempts = 4;
const longestRetryMs = 30_000;
/** The answer says little: a longer one is not read. */
const mostAnswerBytes = 64 * 1024;
/** Those after which OTLP says to try again. */
const passing: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** The version of the semantic conventions that the names of the attributes are from. */
const schemaUrl = "https://opentelemetry.io/schemas/1.40.0";

type Outcome = { readonly rejected: number } | { readonly reason: string; readonly retryAfterMs: number | undefined };

/**
 * Posts spans to a collector in batches, one request at a time. Nobody waits for it: what finds no room is dropped and
 * counted, and so is what the collector does not take.
 */
export class SpanExporter implements AsyncDisposable {
  readonly #options: ExporterOptions;
  readonly #ending = new AbortController();
  readonly #counts = { sent: 0, dropped: 0 };
  #waiting: Span[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #isFailing = false;
  #isClosed = false;

  constructor(options: ExporterOptions) {
    this.#options = options;
  }

  /** Spans since the start. */
  get counts(): Readonly<Record<"sent" | "dropped", number>> {
    return this.#counts;
  }

  add(span: Span): void {
    if (this.#isClosed || this.#waiting.length >= mostWaiting) {
      this.#counts.dropped += 1;
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length >= batchSize) this.#begin();
    else this.#timer ??= setTimeout(() => this.#begin(), this.#options.waitMs ?? 5000).unref();
  }

  /** Sends what waits, for a limited time. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#begin();
    const { lastMs = 3000 } = this.#options;
    if (this.#sending !== undefined && !(await settledWithin(this.#sending, { ms: lastMs }))) {
      this.#ending.abort(new DOMException("The gateway is stopping", "AbortError"));
      await this.#sending;
    }
    this.#counts.dropped += this.#waiting.length;
    this.#waiting = [];
  }

  #begin(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.length === 0) return;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#ending.signal.aborted) {
      const batch = this.#waiting.splice(0, batchSize);
      const taken = await this.#send(batch);
      this.#counts.sent += taken;
      this.#counts.dropped += batch.length - taken;
    }
  }

  /** How many the collector has taken. */
  async #send(batch: readonly Span[]): Promise<number> {
    const { retryMs = 1000, log } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#post(batch);
      if ("rejected" in outcome) {
        if (this.#isFailing) log.info("the collector takes traces again");
        this.#isFailing = false;
        return batch.length - Math.min(outcome.rejected, batch.length);
      }
      if (!this.#isFailing) log.warn(`The collector did not take traces: ${outcome.reason}`);
      this.#isFailing = true;
      if (outcome.retryAfterMs === undefined || attempt === attempts || this.#ending.signal.aborted) return 0;
      const waitMs = Math.max(outcome.retryAfterMs, backoffMs(attempt, { firstMs: retryMs }));
      await sleep(Math.min(waitMs, longestRetryMs), this.#ending.signal).catch(() => undefined);
    }
  }

  async #post(batch: readonly Span[]): Promise<Outcome> {
    const { url, headers, timeoutMs, isCompressed } = this.#options;
    using limit = linked(this.#ending.signal, timeoutMs);
    try {
      const text = JSON.stringify(this.#request(batch));
      const response = await fetch(url, {
        method: "POST",
        headers: {
          ...headers,
          "Content-Type": "application/json",
          ...(isCompressed ? { "Content-Encoding": "gzip" } : {}),
        },
        body: isCompressed ? await promisify(gzip)(text) : text,
        redirect: "error",
        signal: limit.signal,
      });
      if (response.ok) return { rejected: rejectedIn(await readStart(response)) };
      await response.body?.cancel();
      const seconds = Number(response.headers.get("retry-after") ?? 0);
      const retryAfterMs = passing.has(response.status) ? (seconds > 0 ? seconds * 1000 : 0) : undefined;
      return { reason: `it answered with status ${response.status}`, retryAfterMs };
    } catch (error) {
      const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
      return { reason: messageOf(cause), retryAfterMs: 0 };
    }
  }

  #request(spans: readonly Span[]): object {
    const { resource, version } = this.#options;
    const attributes = toAttributes({ "service.version": version, ...resource });
    const scope = { name: "maxclaw", version };
    return { resourceSpans: [{ resource: { attributes }, scopeSpans: [{ scope, spans, schemaUrl }], schemaUrl }] };
  }
}

/** Empty where it is longer than it may be. */
async function readStart(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > mostAnswerBytes) return "";
  }
  return text;
}

/** Of a partial success; https://opentelemetry.io/docs/specs/otlp/#partial-success-1 */
function rejectedIn(answer: string): number {
  const found = /"rejectedSpans"\s*:\s*"?(\d+)/.exec(answer)?.[1];
  return found === undefined ? 0 : Number(found);
}
