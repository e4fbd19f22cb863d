import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Chats } from "./discord/chats.js";
import type { FakeDiscordFault } from "./discord/faults.js";
import { FakeDiscordGateway } from "./discord/gateway.js";
import type { FakeInteractionReply } from "./discord/interactions.js";
import type { FakeDiscordMessage, FakeDiscordUser, FakeDiscordWrite } from "./discord/messages.js";
import { Rest } from "./discord/rest.js";
import { Snowflakes } from "./discord/wire.js";

export const sendCall = /^POST \/channels\/\d+\/messages$/;
export const editCall = /^PATCH \/channels\/\d+\/messages\/\d+$/;

export interface FakeDiscordOptions {
  readonly token: string;
  readonly heartbeatMs?: number;
}

/** Discord's REST API and gateway on loopback, with faults on demand. */
export async function startFakeDiscord(options: FakeDiscordOptions): Promise<FakeDiscord> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return new FakeDiscord(server, options);
}

export class FakeDiscord implements AsyncDisposable {
  /** For `apiRoot`. */
  readonly url: string;
  readonly token: string;
  readonly bot: FakeDiscordUser;
  /** The role that Discord has made for the bot, and one of other people. */
  readonly botRole: string;
  readonly otherRole: string;
  readonly gateway: FakeDiscordGateway;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #chats: Chats;
  readonly #rest: Rest;

  constructor(server: Server, options: FakeDiscordOptions) {
    // A server that listens on TCP has an object as its address.
    const { port } = server.address() as AddressInfo;
    const ids = new Snowflakes();
    this.#server = server;
    this.#chats = new Chats(ids);
    this.url = `http://127.0.0.1:${port}`;
    this.token = options.token;
    this.bot = { id: ids.next(), username: "maxbot", bot: true };
    this.botRole = ids.next();
    this.otherRole = ids.next();
    const { guildId } = this.#chats;
    const roles = [
      { id: guildId },
      { id: this.otherRole, tags: {} },
      { id: this.botRole, tags: { bot_id: this.bot.id } },
    ];
    const applicationId = ids.next();
    const about = { user: this.bot, application: { id: applicationId }, guild: { id: guildId, roles } };
    this.gateway = new FakeDiscordGateway(options.token, about, options);
    this.gateway.url = `ws://127.0.0.1:${port}/gateway`;
    const { token, url: origin, bot } = this;
    this.#rest = new Rest({ token, origin, bot, applicationId }, ids, this.#chats, this.gateway);
    server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
    server.on("request", (request, response) => void this.#rest.answer(request, response));
    server.on("upgrade", (request, socket, head) => this.gateway.upgrade(request, socket as Socket, head));
  }

  // What people do

  /** The direct chat between this person and the bot. */
  dmOf(userId: string): string {
    return this.#chats.dmOf(userId);
  }

  addChannel({ parent }: { readonly parent?: string } = {}): string {
    return this.#chats.add(parent);
  }

  removeChannel(channelId: string): void {
    this.#chats.remove(channelId);
  }

  write(message: FakeDiscordWrite): FakeDiscordMessage {
    return this.#rest.messages.write(message);
  }

  editAs(messageId: string, content: string): void {
    this.#rest.messages.edit(messageId, content);
  }

  deleteAs(messageId: string): void {
    this.#rest.messages.delete(messageId);
  }

  removeMessage(messageId: string): void {
    this.#rest.messages.remove(messageId);
  }

  press(messageId: string, label: string, user: FakeDiscordUser): void {
    const { channelId, components } = this.#rest.messages.find(messageId);
    const button = components.flatMap((row) => row.components).find((one) => one.label === label);
    if (button === undefined) throw new Error(`There is no button ${label}`);
    this.#rest.interactions.press(channelId, user, button.custom_id);
  }

  command(channelId: string, name: string, user: FakeDiscordUser, text?: string): void {
    this.#rest.interactions.command(channelId, user, name, text);
  }

  // What the bot has done

  /** All messages of the bot, in order, as they are now. */
  get sent(): readonly FakeDiscordMessage[] {
    return this.#rest.messages.of(this.bot);
  }

  messagesIn(channelId: string): readonly FakeDiscordMessage[] {
    return this.#rest.messages.in(channelId);
  }

  get edits(): number {
    return this.#rest.botMessages.edits;
  }

  /** Each message of the bot as it was first shown. */
  get showings(): readonly { readonly channelId: string; readonly text: string }[] {
    return this.#rest.botMessages.showings;
  }

  /** Texts of the bot, sent or edited, whose addresses Discord would look up for a preview. */
  get previewed(): readonly string[] {
    return this.#rest.previews.texts;
  }

  get interactionReplies(): readonly FakeInteractionReply[] {
    return this.#rest.interactions.replies;
  }

  get typing(): readonly string[] {
    return this.#rest.typing;
  }

  get commands(): readonly Readonly<Record<string, unknown>>[] {
    return this.#rest.commands;
  }

  /** Calls so far, as `GET /users/@me`, with ids in them. */
  get calls(): readonly string[] {
    return this.#rest.calls;
  }

  countCalls(pattern: RegExp): number {
    return this.calls.filter((call) => pattern.test(call)).length;
  }

  // What goes wrong

  /** What happens to the next call of which `METHOD /path` matches. */
  failNext(call: RegExp, fault: FakeDiscordFault): void {
    this.#rest.faults.plan(call, fault);
  }

  /** How long a nonce is known. */
  get nonceMs(): number {
    return this.#rest.botMessages.nonceMs;
  }

  set nonceMs(ms) {
    this.#rest.botMessages.nonceMs = ms;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.gateway.close();
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
