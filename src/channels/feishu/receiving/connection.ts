import { z } from "zod";
import { ChannelError } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import { keepSocket, type OpenSocket, type SocketLimits } from "../../wire/socket.js";
import type { Account } from "../account.js";
import { forRun, title } from "../feishu-error.js";
import { decodeFrame, encodeFrame, type Frame, methods } from "./frame.js";
import { Pieces } from "./pieces.js";

export interface ConnectionOptions {
  readonly account: Account;
  /** Takes one payload. Undefined: it could not be taken, and must come again. Never rejects. */
  readonly onPayload: (payload: Uint8Array) => Promise<object | undefined>;
  readonly onOpen: (socket: OpenSocket) => void;
  readonly onAlive: () => void;
  readonly limits?: Partial<SocketLimits> | undefined;
  readonly log: Logger;
}

const clientConfig = z.looseObject({ PingInterval: z.number().positive().optional() });
const endpoint = z.looseObject({
  data: z.looseObject({ URL: z.string().regex(/^wss?:\/\//), ClientConfig: clientConfig.nullish() }),
});

const longestPingMs = 60_000;
/** Feishu's own word for how often to ping is two minutes. */
const silentMs = 150_000;

/**
 * Listens on the connection that Feishu names until `signal` aborts.
 *
 * @throws {ChannelError} it does not come back, or Feishu refuses for good
 */
export async function listenToConnection(options: ConnectionOptions, signal: AbortSignal): Promise<void> {
  const connection = new Connection(options);
  try {
    await keepSocket(
      {
        title,
        address: (opening) => connection.address(opening),
        onOpen: (socket) => connection.open(socket),
        onMessage: (data, _isText, socket) => connection.receive(data, socket),
        onAlive: options.onAlive,
        // It has pings of its own.
        limits: { silentMs, ...options.limits, pingMs: Number.POSITIVE_INFINITY },
        log: options.log,
      },
      signal,
    );
  } finally {
    connection.end();
  }
}

class Connection {
  readonly #options: ConnectionOptions;
  #pieces = new Pieces();
  #service = 0;
  #pingMs = longestPingMs;
  #heart: NodeJS.Timeout | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  async address(signal: AbortSignal): Promise<string> {
    const said = await this.#options.account.endpoint(signal).catch((error: unknown) => {
      throw forRun(error);
    });
    const { data } = endpoint.safeParse(said);
    if (data === undefined) throw new ChannelError("Feishu named no address for the connection.", { retryable: true });
    const { URL: url, ClientConfig: config } = data.data;
    this.#service = Number(new URL(url).searchParams.get("service_id") ?? 0) || 0;
    this.#pingMs = Math.min((config?.PingInterval ?? longestPingMs / 1000) * 1000, longestPingMs);
    return url;
  }

  open(socket: OpenSocket): void {
    this.#pieces = new Pieces();
    clearInterval(this.#heart);
    const heart = setInterval(() => this.#ping(socket, heart), this.#pingMs);
    this.#heart = heart;
    this.#ping(socket, heart);
    this.#options.onOpen(socket);
  }

  end(): void {
    clearInterval(this.#heart);
  }

  receive(data: Buffer, socket: OpenSocket): void {
    const frame = decodeFrame(data);
    if (frame === undefined) this.#options.log.debug("something on Feishu's connection is not as documented");
    else if (frame.method === methods.data) this.#receiveData(frame, socket);
  }

  #receiveData(frame: Frame, socket: OpenSocket): void {
    const payload = this.#pieces.add(frame);
    if (payload === undefined) return;
    const begunAt = Date.now();
    const { log, onPayload } = this.#options;
    onPayload(payload)
      .then((answer) => socket.send(encodeFrame(answered(frame, answer, Date.now() - begunAt))))
      // What is not answered comes again, and is known then.
      .catch((error: unknown) => log.debug("an event of Feishu was not answered", { error }));
  }

  #ping(socket: OpenSocket, heart: NodeJS.Timeout): void {
    const headers = new Map([["type", "ping"]]);
    const ping = { seqId: 0n, logId: 0n, service: this.#service, method: methods.control, headers };
    // A connection that is gone is noticed by its own end. The next one has a heart of its own.
    socket.send(encodeFrame(ping)).catch(() => clearInterval(heart));
  }
}

function answered(frame: Frame, answer: object | undefined, tookMs: number): Frame {
  const isEmpty = answer === undefined || Object.keys(answer).length === 0;
  const data = isEmpty ? {} : { data: Buffer.from(JSON.stringify(answer)).toString("base64") };
  const payload = Buffer.from(JSON.stringify({ code: answer === undefined ? 500 : 200, ...data }));
  return { ...frame, headers: new Map([...frame.headers, ["biz_rt", String(tookMs)]]), payload };
}
