import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { ChannelError, messageOf } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import { isSameSecret } from "../../../util/same-secret.js";

export interface WebhookOptions {
  /** Where Telegram reaches this gateway: an `https://` address that somebody passes on to `host` and `port`. */
  readonly url: string;
  /** Telegram shows it with each update; 1 to 256 of `A-Z a-z 0-9 _ -`. */
  readonly secret: string;
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
}

const largestUpdate = 1024 * 1024;

/**
 * Listens for updates. `take` resolves with whether one may be confirmed; what is not confirmed Telegram sends again.
 *
 * @throws {ChannelError} when the address cannot be listened on
 */
export async function openWebhook(
  options: WebhookOptions,
  take: (update: unknown) => Promise<boolean>,
  log: Logger,
): Promise<{ readonly port: number } & AsyncDisposable> {
  const path = new URL(options.url).pathname;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const end = (status: number): void => void response.writeHead(status, { connection: "close" }).end();
    if (new URL(request.url ?? "/", "http://localhost").pathname !== path) return end(404);
    if (request.method !== "POST") return end(405);
    if (!isSameSecret(String(request.headers["x-telegram-bot-api-secret-token"] ?? ""), options.secret))
      return end(401);
    const body = await readBody(request);
    if (body === undefined) return end(413);
    let update: unknown;
    try {
      update = JSON.parse(body);
    } catch {
      return end(400);
    }
    response.writeHead((await take(update)) ? 200 : 503).end();
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      log.warn(`an update of Telegram could not be taken: ${messageOf(error)}`);
      response.writeHead(503).end();
    });
  });
  server.requestTimeout = 30_000;
  server.listen(options.port, options.host);
  try {
    await once(server, "listening");
  } catch (error) {
    throw new ChannelError(
      `channels.telegram.webhook: ${options.host}:${options.port} cannot be listened on (${messageOf(error)}). Choose another port.`,
    );
  }
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : options.port,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > largestUpdate) return undefined;
  }
  return Buffer.concat(chunks).toString("utf8");
}
