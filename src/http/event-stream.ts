import type { Exchange } from "./exchange.js";

export interface StreamMessage {
  readonly id?: number | undefined;
  readonly event?: string | undefined;
  /** One line: JSON or a mark. */
  readonly data: string;
}

/** An answer of type text/event-stream. */
export interface EventStream extends Disposable {
  /** Sends the headers, if nothing has been sent yet. */
  begin(): void;
  /**
   * The promise, if there is one, resolves when a slow reader has caught up. A reader that lags by more than
   * `maxBufferedBytes` is cut off: it reconnects with Last-Event-ID and gets the rest from the log.
   */
  send(message: StreamMessage): Promise<void> | undefined;
  /** Resolves when the client has gone or the server stops. */
  readonly closed: Promise<void>;
}

/** Sends a comment line every `heartbeatMs`, and ends the answer when disposed. */
export function openEventStream({ request, response, settings, signal, holdOpen }: Exchange): EventStream {
  holdOpen();
  let draining: Promise<void> | undefined;
  const begin = (): void => {
    if (response.headersSent) return;
    response.writeHead(200, {
      "Content-Type": "text/event-stream; charset=utf-8",
      "Cache-Control": "no-store, no-transform",
      "X-Accel-Buffering": "no",
    });
    response.flushHeaders();
  };

  const write = (text: string): Promise<void> | undefined => {
    if (response.destroyed || response.writableEnded || request.method === "HEAD") return undefined;
    if (response.writableLength > settings.limits.maxBufferedBytes) {
      response.destroy();
      return undefined;
    }
    begin();
    if (response.write(text)) return undefined;
    draining ??= new Promise((resolve) => {
      const onReady = (): void => {
        response.off("drain", onReady);
        response.off("close", onReady);
        draining = undefined;
        resolve();
      };
      response.once("drain", onReady);
      response.once("close", onReady);
    });
    return draining;
  };

  const heartbeat = setInterval(() => void write(": still here\n\n"), settings.timings.heartbeatMs);
  heartbeat.unref();
  return {
    begin,
    send({ id, event, data }) {
      const head = `${id === undefined ? "" : `id: ${id}\n`}${event === undefined ? "" : `event: ${event}\n`}`;
      return write(`${head}data: ${data}\n\n`);
    },
    closed: new Promise((resolve) => {
      if (signal.aborted || request.method === "HEAD") resolve();
      else signal.addEventListener("abort", () => resolve(), { once: true });
    }),
    [Symbol.dispose]() {
      clearInterval(heartbeat);
      if (response.headersSent && !response.writableEnded) response.end();
    },
  };
}
