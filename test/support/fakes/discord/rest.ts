import type { IncomingMessage, ServerResponse } from "node:http";
import { Attachments } from "./attachments.js";
import { BotMessages } from "./bot-messages.js";
import type { Chats } from "./chats.js";
import { Faults, failure } from "./faults.js";
import type { FakeDiscordGateway } from "./gateway.js";
import { Interactions } from "./interactions.js";
import { type FakeDiscordUser, Messages } from "./messages.js";
import { Previews } from "./previews.js";
import { type ChannelCall, type Json, type Reply, refusal, type Snowflakes } from "./wire.js";

export interface RestOptions {
  readonly token: string;
  readonly origin: string;
  readonly bot: FakeDiscordUser;
  readonly applicationId: string;
}

/** Discord's calls over HTTP: finds out what a call is, and lets the part do it that keeps what it is about. */
export class Rest {
  /** Calls so far, as `GET /users/@me`, with ids in them. */
  readonly calls: string[] = [];
  /** Channels in which the bot has shown that it writes. */
  readonly typing: string[] = [];
  commands: readonly Json[] = [];
  readonly faults = new Faults();
  readonly previews = new Previews();
  readonly messages: Messages;
  readonly botMessages: BotMessages;
  readonly interactions: Interactions;
  readonly #options: RestOptions;
  readonly #chats: Chats;
  readonly #gateway: FakeDiscordGateway;
  readonly #attachments: Attachments;

  constructor(options: RestOptions, ids: Snowflakes, chats: Chats, gateway: FakeDiscordGateway) {
    this.#options = options;
    this.#chats = chats;
    this.#gateway = gateway;
    this.#attachments = new Attachments(ids, options.origin);
    this.messages = new Messages(ids, chats, this.#attachments, gateway);
    this.botMessages = new BotMessages(options.bot, this.messages, this.previews);
    this.interactions = new Interactions(options.applicationId, ids, chats, gateway, this.previews);
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const address = new URL(request.url ?? "/", "http://localhost");
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const kept = this.#attachments.at(address.pathname);
    if (kept !== undefined) return void response.end(kept);
    const path = address.pathname.replace(/^\/v10/, "");
    const call = `${request.method} ${path}`;
    this.calls.push(call);
    const carryOut = (): Promise<Reply> =>
      this.#carryOut(call, address.searchParams, body, request.headers["content-type"] ?? "");
    if (request.headers.authorization !== `Bot ${this.#options.token}`)
      return write(response, refusal(401, "401: Unauthorized", 0));
    const fault = this.faults.take(call);
    if (fault === undefined) return write(response, await carryOut());
    if (fault.kind === "answer") return write(response, failure(fault));
    if (fault.carriedOut) await carryOut();
    if (fault.kind === "cut") request.socket.destroy();
  }

  async #carryOut(call: string, query: URLSearchParams, body: Buffer, type: string): Promise<Reply> {
    const [, method = "", channelId = "", rest = ""] = /^(\w+) \/channels\/(\d+)(.*)$/.exec(call) ?? [];
    if (channelId !== "") return await this.#inChannel({ method, channelId, rest, query, body, type });
    return this.#about(call, body) ?? this.interactions.answer(call, body) ?? refusal(404, "404: Not Found", 0);
  }

  /** Calls about the bot and its application. */
  #about(call: string, body: Buffer): Reply | undefined {
    const { bot, applicationId } = this.#options;
    switch (call) {
      case "GET /users/@me":
        return { status: 200, body: bot };
      case "GET /gateway/bot": {
        const limit = { total: 1000, remaining: 999, reset_after: 0, max_concurrency: 1 };
        return { status: 200, body: { url: this.#gateway.url, shards: 1, session_start_limit: limit } };
      }
      case "POST /users/@me/channels": {
        const { recipient_id: userId } = JSON.parse(body.toString());
        return { status: 200, body: { id: this.#chats.dmOf(userId), type: 1 } };
      }
      case `GET /applications/${applicationId}/commands`:
        return { status: 200, body: this.commands };
      case `PUT /applications/${applicationId}/commands`:
        this.commands = JSON.parse(body.toString());
        return { status: 200, body: this.commands };
      default:
        return undefined;
    }
  }

  async #inChannel(call: ChannelCall): Promise<Reply> {
    const { method, channelId, rest } = call;
    if (!this.#chats.has(channelId)) return refusal(404, "Unknown Channel", 10_003);
    if (method === "POST" && rest === "/typing") {
      this.typing.push(channelId);
      return { status: 204 };
    }
    if (method === "GET" && rest === "") {
      const { type, parent } = this.#chats.get(channelId);
      return { status: 200, body: { id: channelId, type, parent_id: parent ?? null } };
    }
    return await this.botMessages.answer(call);
  }
}

function write(response: ServerResponse, { status, body, headers = {} }: Reply): void {
  if (response.destroyed) return;
  response.writeHead(status, { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}
