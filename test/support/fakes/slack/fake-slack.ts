import { FakeChats } from "../platform/fake-chats.js";
import { type FakeCall, type FakeReply, type FakeServer, startFakeServer } from "../platform/fake-server.js";
import { asRead, jsonOf, whyRefused } from "./rules.js";
import { SlackSockets } from "./socket.js";
import { SlackStore, type StoredMessage } from "./store.js";

export const sendCall = /^POST \/api\/chat\.postMessage$/;
export const editCall = /^POST \/api\/chat\.update$/;

export const slackBot = { id: "UBOT", botId: "BBOT", team: "T1" } as const;

export interface FakeSlackWrite {
  readonly channel: string;
  readonly user: string;
  readonly text?: string;
  readonly thread?: string;
  readonly files?: readonly {
    readonly filename: string;
    readonly mimeType: string;
    readonly bytes: Buffer;
    readonly isVoice?: boolean;
  }[];
  /** A message that it shares. */
  readonly shares?: { readonly text: string; readonly author: string };
}

/** How Slack says no to a call. */
export function slackRefusal(status: number): FakeReply {
  if (status === 429) return { status, headers: { "retry-after": "1" }, body: { ok: false, error: "ratelimited" } };
  if (status === 404 || status >= 500) return { status, body: Buffer.from("<html>upstream</html>") };
  const words: Readonly<Record<number, string>> = { 401: "invalid_auth" };
  return { body: { ok: false, error: words[status] ?? "msg_too_long" } };
}

/** Slack's Web API and Socket Mode on loopback. `word`: in its tokens. https://docs.slack.dev */
export async function startFakeSlack(word = "fake"): Promise<FakeSlack> {
  const parts: { slack?: FakeSlack } = {};
  const sockets = new SlackSockets();
  const server = await startFakeServer({
    answer: (call) => parts.slack?.answer(call) ?? { status: 503 },
    onSocket: (socket) => sockets.accept(socket),
    refusesSocket: ({ query }) => (query.has("ticket") ? undefined : 403),
  });
  parts.slack = new FakeSlack(server, sockets, word);
  return parts.slack;
}

type Method = (args: URLSearchParams) => object;

/** Throw it for what Slack refuses. */
class Refused extends Error {}

export class FakeSlack implements AsyncDisposable {
  readonly botToken: string;
  readonly appToken: string;
  readonly server: FakeServer;
  readonly sockets: SlackSockets;
  readonly store = new SlackStore();
  readonly chats = new FakeChats();
  /** Texts of which Slack would fetch the addresses. */
  readonly previewed: string[] = [];
  /** What only one person sees. */
  readonly whispers: { readonly user: string; readonly text: string; readonly isSmall: boolean }[] = [];
  readonly statuses: string[] = [];
  /** Rights of the bot; all, where it is undefined. */
  rights: string | undefined;
  readonly #shownIds = new Map<string, string>();
  readonly #uploads = new Map<string, { readonly filename: string; bytes: Buffer }>();
  readonly #methods: Readonly<Record<string, Method>>;

  constructor(server: FakeServer, sockets: SlackSockets, word: string) {
    this.botToken = `xoxb-${word}-bot-secret`;
    this.appToken = `xapp-${word}-app-secret`;
    this.server = server;
    this.sockets = sockets;
    this.#methods = {
      "auth.test": () => ({
        user_id: slackBot.id,
        bot_id: slackBot.botId,
        team_id: slackBot.team,
        user: "max",
        team: "Acme",
      }),
      "apps.connections.open": () => ({ url: `${this.server.url.replace("http", "ws")}/link?ticket=secret-ticket` }),
      "users.info": (args) => ({
        user: { id: args.get("user"), profile: { display_name: `Name of ${args.get("user")}` } },
      }),
      "users.conversations": () => ({ channels: this.store.channels.map((id) => ({ id })) }),
      "conversations.open": (args) => ({ channel: { id: this.directOf(args.get("users") ?? "") } }),
      "conversations.history": (args) =>
        this.#page(this.store.history(this.#channelIn(args), args.get("oldest") ?? "0"), args),
      "conversations.replies": (args) =>
        this.#page(this.store.replies(this.#channelIn(args), args.get("ts") ?? "", args.get("oldest") ?? "0"), args),
      "chat.postMessage": (args) => this.#post(args),
      "chat.update": (args) => this.#update(args),
      "chat.postEphemeral": (args) => this.#whisper(args),
      "assistant.threads.setStatus": (args) => ({
        count: this.statuses.push(`${args.get("thread_ts")} ${args.get("status")}`),
      }),
      "files.getUploadURLExternal": (args) => this.#beginUpload(args),
      "files.completeUploadExternal": (args) => this.#endUpload(args),
    };
  }

  get apiRoot(): string {
    return `${this.server.url}/api`;
  }

  directOf(user: string): string {
    const channel = user.replace(/^U/, "D");
    this.store.open(channel);
    return channel;
  }

  answer({ name, headers, body }: FakeCall): FakeReply {
    const [, upload] = /^POST \/upload\/(F\d+)$/.exec(name) ?? [];
    if (upload !== undefined) return this.#takeBytes(upload, body);
    const [, file] = /^GET \/files\/(\d+)$/.exec(name) ?? [];
    const isBot = headers.authorization === `Bearer ${this.botToken}`;
    if (file !== undefined)
      return isBot ? this.#received(Number(file)) : { status: 302, headers: { location: "/login" } };
    const method = name.replace("POST /api/", "");
    const isApp = headers.authorization === `Bearer ${this.appToken}`;
    if (method === "apps.connections.open" ? !isApp : !isBot) return { body: { ok: false, error: "invalid_auth" } };
    const own = this.#methods[method];
    if (own === undefined) return { body: { ok: false, error: "unknown_method" } };
    try {
      const scopes: Record<string, string> = this.rights === undefined ? {} : { "x-oauth-scopes": this.rights };
      return { headers: scopes, body: { ok: true, ...own(new URLSearchParams(body.toString())) } };
    } catch (error) {
      if (error instanceof Refused) return { body: { ok: false, error: error.message } };
      throw error;
    }
  }

  /** A person writes. Returns the message's id. */
  write({ channel, user, text = "", thread, files = [], shares }: FakeSlackWrite): string {
    const attachments =
      shares === undefined
        ? []
        : [{ is_share: true, author_id: shares.author, text: shares.text, ts: "1600000000.000100" }];
    const message = this.store.add(channel, {
      user,
      text,
      ...(thread === undefined ? {} : { thread_ts: thread }),
      ...(files.length === 0 ? {} : { subtype: "file_share", files: files.map((one) => this.#toFile(one)) }),
      ...(attachments.length === 0 ? {} : { attachments }),
    });
    this.#tellEvent({ ...message, channel, channel_type: typeOf(channel), event_ts: message.ts });
    return message.ts;
  }

  edit(channel: string, ts: string, text: string): void {
    const message = this.store.find(channel, ts);
    if (message === undefined) throw new Error(`There is no message ${ts}`);
    const before = { ...message };
    message.text = text;
    message.edited = { user: message.user, ts: this.store.nextTs() };
    this.#tellChange("message_changed", channel, { message: { ...message }, previous_message: before });
  }

  remove(channel: string, ts: string): void {
    const message = this.store.remove(channel, ts);
    this.#tellChange("message_deleted", channel, { deleted_ts: ts, previous_message: message });
  }

  #tellChange(subtype: string, channel: string, more: object): void {
    const ts = this.store.nextTs();
    this.#tellEvent({
      type: "message",
      subtype,
      hidden: true,
      channel,
      channel_type: typeOf(channel),
      ts,
      event_ts: ts,
      ...more,
    });
  }

  #tellEvent(event: object): void {
    const authorizations = [{ team_id: slackBot.team, user_id: slackBot.id, is_bot: true }];
    this.sockets.tell("events_api", { team_id: slackBot.team, type: "event_callback", authorizations, event });
  }

  press(channel: string, user: string, value: string): string {
    const shown = this.chats.all.findLast(
      (one) => one.chatId === channel && one.buttons.some((b) => b.value === value),
    );
    const ts = [...this.#shownIds].find(([, id]) => id === shown?.id)?.[0];
    const message = { ts, ...(shown?.thread === undefined ? {} : { thread_ts: shown.thread }) };
    const actions = [{ type: "button", action_id: "maxclaw_0", value }];
    return this.sockets.tell("interactive", {
      type: "block_actions",
      user: { id: user, name: user },
      channel: { id: channel },
      message,
      actions,
    });
  }

  command(channel: string, user: string, command: string, text: string): string {
    return this.sockets.tell("slash_commands", {
      command,
      text,
      user_id: user,
      user_name: user,
      channel_id: channel,
      team_id: slackBot.team,
      trigger_id: `trigger-${this.store.nextTs()}`,
    });
  }

  #channelIn(args: URLSearchParams): string {
    const given = args.get("channel") ?? "";
    const channel = /^U/.test(given) ? this.directOf(given) : given;
    if (!this.store.has(channel)) throw new Refused("channel_not_found");
    return channel;
  }

  #page(messages: readonly object[], args: URLSearchParams): object {
    const at = Number(args.get("cursor") ?? "0");
    const end = at + Math.min(Number(args.get("limit") ?? "100"), 999);
    const withMetadata = args.get("include_all_metadata") === "true";
    const page = messages.slice(at, end).map((one) => (withMetadata ? one : { ...one, metadata: undefined }));
    const more = end < messages.length;
    return { messages: page, has_more: more, response_metadata: { next_cursor: more ? String(end) : "" } };
  }

  #post(args: URLSearchParams): object {
    const channel = this.#channelIn(args);
    const why = whyRefused(args, 40_000);
    if (why !== undefined) throw new Refused(why);
    const thread = args.get("thread_ts") ?? undefined;
    const text = args.get("text") ?? "";
    if (/https?:/.test(text) && (args.get("unfurl_links") !== "false" || args.get("unfurl_media") !== "false"))
      this.previewed.push(text);
    const message = this.#addOwn(channel, {
      text,
      thread,
      metadata: args.has("metadata") ? jsonOf(args.get("metadata")) : undefined,
    });
    const shown = { chatId: channel, text: asRead(text), buttons: buttonsIn(args) };
    this.#shownIds.set(message.ts, this.chats.show(thread === undefined ? shown : { ...shown, thread }));
    return { channel, ts: message.ts, message };
  }

  #addOwn(
    channel: string,
    {
      text,
      thread,
      ...more
    }: {
      readonly text: string;
      readonly thread: string | undefined;
      readonly metadata?: unknown;
      readonly files?: readonly object[];
    },
  ): StoredMessage {
    const own = { user: slackBot.id, bot_id: slackBot.botId, text, ...more };
    const message = this.store.add(channel, thread === undefined ? own : { ...own, thread_ts: thread });
    this.#tellEvent({ ...message, channel, channel_type: typeOf(channel), event_ts: message.ts });
    return message;
  }

  #update(args: URLSearchParams): object {
    const channel = this.#channelIn(args);
    const ts = args.get("ts") ?? "";
    const message = this.store.find(channel, ts);
    if (message?.user !== slackBot.id)
      throw new Refused(message === undefined ? "message_not_found" : "cant_update_message");
    const why = whyRefused(args, 4000);
    if (why !== undefined) throw new Refused(why);
    message.text = args.get("text") ?? "";
    // Without the field the blocks stay, and `parse` would be `client`.
    if (!args.has("blocks") || args.get("parse") !== "none")
      throw new Error("An edit leaves the buttons, or makes mentions");
    if (/https?:/.test(message.text) && args.get("unfurl_links") !== "false") this.previewed.push(message.text);
    this.chats.edit(this.#shownIds.get(ts) ?? "", asRead(message.text));
    return { channel, ts, text: message.text };
  }

  #whisper(args: URLSearchParams): object {
    const blocks = jsonOf(args.get("blocks")) as readonly { readonly type: string }[];
    const isSmall = blocks.length > 0 && blocks.every(({ type }) => type === "context");
    this.whispers.push({ user: args.get("user") ?? "", text: asRead(args.get("text") ?? ""), isSmall });
    return { message_ts: this.store.nextTs() };
  }

  #beginUpload(args: URLSearchParams): object {
    if (!(Number(args.get("length")) > 0)) throw new Refused("invalid_arguments");
    const id = `F${this.#uploads.size + 1}`;
    this.#uploads.set(id, { filename: args.get("filename") ?? "", bytes: Buffer.alloc(0) });
    return { upload_url: `${this.server.url}/upload/${id}`, file_id: id };
  }

  #takeBytes(id: string, bytes: Buffer): FakeReply {
    const upload = this.#uploads.get(id);
    if (upload === undefined) return { status: 404 };
    upload.bytes = bytes;
    return { body: Buffer.from(`OK - ${bytes.length}`) };
  }

  #endUpload(args: URLSearchParams): object {
    const given = args.get("channel_id") ?? "";
    if (!this.store.has(given)) throw new Refused("channel_not_found");
    const thread = args.get("thread_ts") ?? undefined;
    const ids = (jsonOf(args.get("files")) as readonly { readonly id: string }[]).map(({ id }) => id);
    const files = ids.flatMap((id) => this.#uploads.get(id) ?? []);
    if (files.length !== ids.length) throw new Refused("file_not_found");
    this.#addOwn(given, { text: "", thread, files: ids.map((id) => ({ id, name: this.#uploads.get(id)?.filename })) });
    this.chats.show({ chatId: given, text: "", files, ...(thread === undefined ? {} : { thread }) });
    return { files: ids.map((id) => ({ id })) };
  }

  readonly #sent: Buffer[] = [];

  #toFile({ filename, mimeType, bytes, isVoice }: NonNullable<FakeSlackWrite["files"]>[number]): object {
    const n = this.#sent.push(bytes) - 1;
    const url = `${this.server.url}/files/${n}`;
    const about = { id: `FIN${n}`, name: filename, mimetype: mimeType, size: bytes.length, mode: "hosted" };
    return {
      ...about,
      url_private: url,
      url_private_download: url,
      ...(isVoice === true ? { subtype: "slack_audio" } : {}),
    };
  }

  #received(n: number): FakeReply {
    return { headers: { "content-type": "application/octet-stream" }, body: this.#sent[n] ?? Buffer.alloc(0) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
  }
}

function typeOf(channel: string): string {
  return channel.startsWith("D") ? "im" : "channel";
}

function buttonsIn(args: URLSearchParams): readonly { readonly label: string; readonly value: string }[] {
  const blocks = jsonOf(args.get("blocks")) as readonly {
    readonly type: string;
    readonly elements?: readonly { readonly text: { readonly text: string }; readonly value: string }[];
  }[];
  const rows = blocks.filter(({ type }) => type === "actions").flatMap(({ elements = [] }) => elements);
  return rows.map(({ text, value }) => ({ label: text.text, value }));
}
