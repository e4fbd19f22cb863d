import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { FakeDiscordGateway } from "./fake-discord-gateway.js";

export interface FakeDiscordUser {
  readonly id: string;
  readonly username: string;
  readonly bot?: boolean;
}

export interface FakeDiscordFile {
  readonly filename: string;
  readonly bytes: Buffer;
  readonly mimeType?: string;
}

/** A message as it stands in a channel now. */
export interface FakeDiscordMessage {
  readonly id: string;
  readonly channelId: string;
  readonly author: FakeDiscordUser;
  content: string;
  readonly nonce?: string | undefined;
  readonly files: readonly FakeDiscordFile[];
  readonly replyTo?: string | undefined;
  components: readonly { readonly components: readonly { readonly label: string; readonly custom_id: string }[] }[];
  /** What else is on the wire. */
  readonly extra: Readonly<Record<string, unknown>>;
}

export interface FakeDiscordWrite {
  readonly channelId: string;
  readonly author: FakeDiscordUser;
  readonly content?: string;
  readonly files?: readonly FakeDiscordFile[];
  readonly isVoice?: boolean;
  /** A message that it replies to: of the channel, or made up. */
  readonly replyTo?: {
    readonly id: string;
    readonly content: string;
    readonly author: FakeDiscordUser;
    readonly files?: readonly FakeDiscordFile[];
  };
  readonly mentions?: readonly FakeDiscordUser[];
  readonly extra?: Readonly<Record<string, unknown>>;
}

export type FakeDiscordFault =
  | { readonly kind: "answer"; readonly status: number; readonly retryAfter?: number; readonly code?: number }
  /** The connection breaks before or after the call is carried out. */
  | { readonly kind: "cut"; readonly carriedOut: boolean }
  | { readonly kind: "hang"; readonly carriedOut: boolean };

export interface FakeInteractionReply {
  readonly text: string;
  readonly flags: number;
  /** Discord was told to wait first. */
  readonly wasDeferred: boolean;
}

export interface FakeDiscord extends AsyncDisposable {
  /** For `apiRoot`. */
  readonly url: string;
  readonly token: string;
  readonly bot: FakeDiscordUser;
  /** The role that Discord has made for the bot, and one of other people. */
  readonly botRole: string;
  readonly otherRole: string;
  readonly gateway: FakeDiscordGateway;
  /** The direct chat between this person and the bot. */
  dmOf(userId: string): string;
  addChannel(options?: { readonly parent?: string }): string;
  removeChannel(channelId: string): void;
  write(message: FakeDiscordWrite): FakeDiscordMessage;
  editAs(messageId: string, content: string): void;
  deleteAs(messageId: string): void;
  /** All messages of the bot, in order, as they are now. */
  readonly sent: readonly FakeDiscordMessage[];
  readonly edits: number;
  /** Each message of the bot as it was first shown. */
  readonly showings: readonly { readonly channelId: string; readonly text: string }[];
  /** Texts of the bot, sent or edited, whose addresses Discord would look up for a preview. */
  readonly previewed: readonly string[];
  messagesIn(channelId: string): readonly FakeDiscordMessage[];
  removeMessage(messageId: string): void;
  press(messageId: string, label: string, user: FakeDiscordUser): void;
  command(channelId: string, name: string, user: FakeDiscordUser, text?: string): void;
  readonly interactionReplies: readonly FakeInteractionReply[];
  readonly typing: readonly string[];
  readonly commands: readonly Readonly<Record<string, unknown>>[];
  /** Calls so far, as `GET /users/@me`, with ids in them. */
  readonly calls: readonly string[];
  countCalls(pattern: RegExp): number;
  /** What happens to the next call of which `METHOD /path` matches. */
  failNext(call: RegExp, fault: FakeDiscordFault): void;
  /** How long a nonce is known. */
  nonceMs: number;
}

type Json = Readonly<Record<string, unknown>>;
interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** https://discord.com/developers/docs/resources/message#message-object-message-flags */
const suppressEmbeds = 4;
const epoch = 1_420_070_400_000n;
export const sendCall = /^POST \/channels\/\d+\/messages$/;
export const editCall = /^PATCH \/channels\/\d+\/messages\/\d+$/;

/** Discord's REST API and gateway on loopback, with faults on demand. */
export async function startFakeDiscord(options: {
  readonly token: string;
  readonly heartbeatMs?: number;
}): Promise<FakeDiscord> {
  let count = 0n;
  const newSnowflake = (): string => {
    count += 1n;
    return String(((BigInt(Date.now()) - epoch) << 22n) + count);
  };
  const bot: FakeDiscordUser = { id: newSnowflake(), username: "maxbot", bot: true };
  const applicationId = newSnowflake();
  const guildId = newSnowflake();
  const channels = new Map<string, { readonly type: number; readonly parent?: string; readonly user?: string }>();
  const messages: FakeDiscordMessage[] = [];
  const showings: { channelId: string; text: string }[] = [];
  const previewed: string[] = [];
  /** What was said with each message of the bot, by its id. */
  const flagsOf = new Map<string, number>();
  const nonces = new Map<string, { readonly message: FakeDiscordMessage; readonly at: number }>();
  const files = new Map<string, Buffer>();
  const faults: { readonly call: RegExp; readonly fault: FakeDiscordFault }[] = [];
  const calls: string[] = [];
  const typing: string[] = [];
  const interactions = new Map<string, { readonly at: number; wasDeferred: boolean }>();
  const interactionReplies: FakeInteractionReply[] = [];
  const state = { nonceMs: 60_000, edits: 0, commands: [] as readonly Json[] };
  const sockets = new Set<Socket>();
  const botRole = newSnowflake();
  const otherRole = newSnowflake();
  const roles = [{ id: guildId }, { id: otherRole, tags: {} }, { id: botRole, tags: { bot_id: bot.id } }];
  const gateway = new FakeDiscordGateway(
    options.token,
    { user: bot, application: { id: applicationId }, guild: { id: guildId, roles } },
    options,
  );

  const server = createServer((request, response) => void handle(request, response));
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("upgrade", (request, socket, head) => gateway.upgrade(request, socket as Socket, head));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  gateway.url = `ws://127.0.0.1:${port}/gateway`;

  const isGuild = (channelId: string): boolean => channels.get(channelId)?.user === undefined;
  const toAttachment = ({ filename, bytes, mimeType }: FakeDiscordFile): Json => {
    const id = newSnowflake();
    files.set(id, bytes);
    return { id, filename, size: bytes.length, content_type: mimeType, url: `http://127.0.0.1:${port}/files/${id}` };
  };
  const toWire = (message: FakeDiscordMessage, isEvent: boolean): Json => ({
    id: message.id,
    channel_id: message.channelId,
    ...(isEvent && isGuild(message.channelId) ? { guild_id: guildId } : {}),
    ...(isEvent && message.nonce !== undefined ? { nonce: message.nonce } : {}),
    type: message.replyTo === undefined ? 0 : 19,
    author: message.author,
    content: message.content,
    edited_timestamp: null,
    mentions: [],
    components: message.components,
    attachments: message.files.map(toAttachment),
    ...message.extra,
  });
  const find = (id: string): FakeDiscordMessage => {
    const message = messages.find((one) => one.id === id);
    if (message === undefined) throw new Error(`There is no message ${id}`);
    return message;
  };
  const show = (message: FakeDiscordMessage): FakeDiscordMessage => {
    messages.push(message);
    gateway.dispatch("MESSAGE_CREATE", toWire(message, true));
    return message;
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const address = new URL(request.url ?? "/", "http://localhost");
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const kept = files.get(/^\/files\/(\d+)$/.exec(address.pathname)?.[1] ?? "");
    if (kept !== undefined) return void response.end(kept);
    const path = address.pathname.replace(/^\/v10/, "");
    const call = `${request.method} ${path}`;
    calls.push(call);
    const answer = ({ status, body: content, headers = {} }: Reply): void => {
      if (response.destroyed) return;
      response.writeHead(status, {
        ...(content === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      });
      response.end(content === undefined ? undefined : JSON.stringify(content));
    };
    const carryOut = (): Promise<Reply> => reply(call, address, body, request.headers["content-type"] ?? "");
    if (request.headers.authorization !== `Bot ${options.token}`)
      return answer({ status: 401, body: { message: "401: Unauthorized", code: 0 } });
    const at = faults.findIndex((one) => one.call.test(call));
    const [planned] = at === -1 ? [] : faults.splice(at, 1);
    if (planned === undefined) return answer(await carryOut());
    const { fault } = planned;
    if (fault.kind === "answer") return answer(failure(fault));
    if (fault.carriedOut) await carryOut();
    if (fault.kind === "cut") request.socket.destroy();
  }

  function failure({ status, retryAfter, code = 0 }: FakeDiscordFault & { kind: "answer" }): Reply {
    if (status !== 429) return { status, body: { message: `failed with ${status}`, code } };
    const wait = retryAfter ?? 1;
    const headers = { "retry-after": String(wait), "x-ratelimit-scope": "shared" };
    return { status, headers, body: { message: "You are being rate limited.", retry_after: wait, global: false } };
  }

  async function reply(call: string, { searchParams }: URL, body: Buffer, type: string): Promise<Reply> {
    const [, channelId = "", rest = ""] = /^\w+ \/channels\/(\d+)(.*)$/.exec(call) ?? [];
    if (channelId !== "") {
      if (!channels.has(channelId)) return { status: 404, body: { message: "Unknown Channel", code: 10_003 } };
      return await inChannel(call.split(" ", 1)[0] ?? "", channelId, rest, searchParams, body, type);
    }
    const json = body.length === 0 ? {} : JSON.parse(body.toString());
    if (call === "GET /users/@me") return { status: 200, body: bot };
    if (call === "GET /gateway/bot") {
      const limit = { total: 1000, remaining: 999, reset_after: 0, max_concurrency: 1 };
      return { status: 200, body: { url: gateway.url, shards: 1, session_start_limit: limit } };
    }
    if (call === "POST /users/@me/channels") return { status: 200, body: { id: dmOf(json.recipient_id), type: 1 } };
    if (call === `GET /applications/${applicationId}/commands`) return { status: 200, body: state.commands };
    if (call === `PUT /applications/${applicationId}/commands`) {
      state.commands = json;
      return { status: 200, body: json };
    }
    const [, token = ""] = /^POST \/interactions\/\d+\/([^/]+)\/callback$/.exec(call) ?? [];
    const waiting = interactions.get(token);
    if (waiting !== undefined) {
      if (Date.now() - waiting.at > 3000)
        return { status: 404, body: { message: "Unknown interaction", code: 10_062 } };
      if (json.type === 5) waiting.wasDeferred = true;
      else interactionReplies.push({ text: json.data.content, flags: json.data.flags, wasDeferred: false });
      if (json.type === 5) flagsOf.set(token, json.data.flags);
      else lookUp(json.data.content, json.data.flags);
      return { status: 204 };
    }
    const [, later = ""] = /^PATCH \/webhooks\/\d+\/([^/]+)\/messages\/@original$/.exec(call) ?? [];
    if (interactions.get(later)?.wasDeferred === true) {
      interactionReplies.push({ text: json.content, flags: 64, wasDeferred: true });
      lookUp(json.content, json.flags ?? flagsOf.get(later));
      return { status: 200, body: { id: newSnowflake() } };
    }
    return { status: 404, body: { message: "404: Not Found", code: 0 } };
  }

  function lookUp(text: string, flags = 0): void {
    if (text !== "" && (flags & suppressEmbeds) === 0) previewed.push(text);
  }

  async function inChannel(
    method: string,
    channelId: string,
    rest: string,
    query: URLSearchParams,
    body: Buffer,
    type: string,
  ): Promise<Reply> {
    if (method === "POST" && rest === "/typing") {
      typing.push(channelId);
      return { status: 204 };
    }
    if (method === "GET" && rest === "") {
      const { type: kind, parent } = channels.get(channelId) ?? { type: 0 };
      return { status: 200, body: { id: channelId, type: kind, parent_id: parent ?? null } };
    }
    const here = messages.filter((one) => one.channelId === channelId);
    if (method === "GET" && rest === "/messages") {
      const limit = Number(query.get("limit") ?? 50);
      const after = query.get("after");
      const page =
        after === null ? here.slice(-limit) : here.filter((one) => BigInt(one.id) > BigInt(after)).slice(0, limit);
      return { status: 200, body: page.toReversed().map((one) => toWire(one, false)) };
    }
    if (method === "POST" && rest === "/messages") return await post(channelId, body, type);
    const edited = here.find((one) => rest === `/messages/${one.id}`);
    if (method === "PATCH" && edited !== undefined) {
      const json = JSON.parse(body.toString());
      if (json.content !== undefined) edited.content = json.content;
      if (json.components !== undefined) edited.components = json.components;
      if (json.flags !== undefined) flagsOf.set(edited.id, json.flags);
      if (json.content !== undefined) lookUp(json.content, flagsOf.get(edited.id));
      state.edits += 1;
      return { status: 200, body: toWire(edited, true) };
    }
    return { status: 404, body: { message: "Unknown Message", code: 10_008 } };
  }

  async function post(channelId: string, body: Buffer, type: string): Promise<Reply> {
    let json = {} as Json & { readonly content?: string; readonly nonce?: string };
    const uploads: FakeDiscordFile[] = [];
    if (type.startsWith("multipart/")) {
      const form = await new Response(body, { headers: { "content-type": type } }).formData();
      json = JSON.parse(String(form.get("payload_json")));
      for (const [key, value] of form)
        if (key.startsWith("files[") && typeof value !== "string")
          uploads.push({ filename: value.name, bytes: Buffer.from(await value.arrayBuffer()), mimeType: value.type });
    } else json = JSON.parse(body.toString());
    const { content = "", nonce } = json;
    if (content.length > 2000) return { status: 400, body: { message: "Invalid Form Body", code: 50_035 } };
    if (content === "" && uploads.length === 0)
      return { status: 400, body: { message: "Cannot send an empty message", code: 50_006 } };
    const known = nonces.get(`${channelId} ${nonce}`);
    if (json.enforce_nonce === true && known !== undefined && Date.now() - known.at < state.nonceMs)
      return { status: 200, body: toWire(known.message, true) };
    const reference = json.message_reference as { readonly message_id?: string } | undefined;
    const message = show({
      id: newSnowflake(),
      channelId,
      author: bot,
      content,
      nonce,
      files: uploads,
      replyTo: reference?.message_id,
      components: (json.components ?? []) as FakeDiscordMessage["components"],
      extra: { allowed_mentions: undefined },
    });
    flagsOf.set(message.id, Number(json.flags ?? 0));
    lookUp(content, flagsOf.get(message.id));
    showings.push({ channelId, text: uploads[0]?.filename ?? content });
    nonces.set(`${channelId} ${nonce}`, { message, at: Date.now() });
    return { status: 200, body: toWire(message, true) };
  }

  function dmOf(userId: string): string {
    for (const [id, { user }] of channels) if (user === userId) return id;
    const id = newSnowflake();
    channels.set(id, { type: 1, user: userId });
    return id;
  }

  function interact(channelId: string, user: FakeDiscordUser, about: Json): void {
    const token = `interaction-${newSnowflake()}`;
    interactions.set(token, { at: Date.now(), wasDeferred: false });
    const { type, parent } = channels.get(channelId) ?? { type: 0 };
    gateway.dispatch("INTERACTION_CREATE", {
      id: newSnowflake(),
      application_id: applicationId,
      token,
      channel_id: channelId,
      channel: { id: channelId, type, parent_id: parent ?? null },
      ...(isGuild(channelId) ? { guild_id: guildId, member: { user } } : { user }),
      ...about,
    });
  }

  return {
    url: `http://127.0.0.1:${port}`,
    token: options.token,
    bot,
    botRole,
    otherRole,
    gateway,
    dmOf,
    removeChannel: (channelId) => void channels.delete(channelId),
    addChannel({ parent } = {}) {
      const id = newSnowflake();
      channels.set(id, parent === undefined ? { type: 0 } : { type: 11, parent });
      return id;
    },
    write({ channelId, author, content = "", files: sent = [], isVoice, replyTo, mentions = [], extra = {} }) {
      return show({
        id: newSnowflake(),
        channelId,
        author,
        content,
        files: sent,
        replyTo: replyTo?.id,
        components: [],
        extra: {
          mentions,
          ...(isVoice === true ? { flags: 1 << 13 } : {}),
          ...(replyTo === undefined
            ? {}
            : {
                message_reference: { type: 0, message_id: replyTo.id },
                referenced_message: { ...replyTo, attachments: (replyTo.files ?? []).map(toAttachment) },
              }),
          ...extra,
        },
      });
    },
    editAs(messageId, content) {
      const message = find(messageId);
      message.content = content;
      const edited_timestamp = new Date().toISOString();
      gateway.dispatch("MESSAGE_UPDATE", { ...toWire(message, true), edited_timestamp });
    },
    deleteAs(messageId) {
      const { channelId } = find(messageId);
      messages.splice(messages.indexOf(find(messageId)), 1);
      gateway.dispatch("MESSAGE_DELETE", { id: messageId, channel_id: channelId });
    },
    get sent() {
      return messages.filter(({ author }) => author.id === bot.id);
    },
    get edits() {
      return state.edits;
    },
    showings,
    previewed,
    messagesIn: (channelId) => messages.filter((one) => one.channelId === channelId),
    removeMessage: (messageId) => void messages.splice(messages.indexOf(find(messageId)), 1),
    press(messageId, label, user) {
      const message = find(messageId);
      const button = message.components.flatMap((row) => row.components).find((one) => one.label === label);
      if (button === undefined) throw new Error(`There is no button ${label}`);
      interact(message.channelId, user, { type: 3, data: { custom_id: button.custom_id, component_type: 2 } });
    },
    command(channelId, name, user, text) {
      const options = text === undefined ? [] : [{ name: "text", type: 3, value: text }];
      interact(channelId, user, { type: 2, data: { id: newSnowflake(), name, options } });
    },
    interactionReplies,
    typing,
    get commands() {
      return state.commands;
    },
    calls,
    countCalls: (pattern) => calls.filter((call) => pattern.test(call)).length,
    failNext: (call, fault) => void faults.push({ call, fault }),
    get nonceMs() {
      return state.nonceMs;
    },
    set nonceMs(ms) {
      state.nonceMs = ms;
    },
    async [Symbol.asyncDispose]() {
      gateway.close();
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
