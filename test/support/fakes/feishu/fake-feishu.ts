import { randomBytes, randomUUID } from "node:crypto";
import { FakeChats } from "../platform/fake-chats.js";
import { type FakeCall, type FakeReply, type FakeServer, startFakeServer } from "../platform/fake-server.js";
import { directOf, type FeishuWrite, receiveEvent, type StoredMessage, stored, threadIdOf } from "./events.js";
import { FeishuLine } from "./line.js";
import { readCard, refusal } from "./rules.js";

export interface FakeFeishuOptions {
  readonly appSecret?: string;
  readonly verificationToken?: string;
}

export const sendCall = /^POST \/open-apis\/im\/v1\/messages(?:\/[^/]+\/reply)?$/;
export const editCall = /^PATCH \/open-apis\/im\/v1\/messages\//;

interface KeptFile {
  readonly filename: string;
  readonly bytes: Buffer;
}

/** https://open.feishu.cn/document: the access token, the long connection, messages, cards, files, history. */
export class FakeFeishu {
  readonly appId = "cli_a1b2c3d4e5f60718";
  readonly appSecret: string;
  readonly verificationToken: string;
  readonly botId = "ou_b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0";
  readonly chats = new FakeChats();
  readonly line = new FeishuLine();
  /** All messages, of people and of apps, as history has them. */
  readonly messages: StoredMessage[] = [];
  /** All bodies that showed something. */
  readonly bodies: Readonly<Record<string, unknown>>[] = [];
  tokensGiven = 0;
  tokenSeconds = 7200;
  /** So long Feishu leaves out a call with the same uuid. */
  knowsRepeats = true;
  /** Instead of the event's address. */
  endpointSays: object | undefined;
  readonly #tokens = new Set<string>();
  readonly #tickets = new Set<string>();
  readonly #files = new Map<string, KeptFile>();
  #server: FakeServer | undefined;
  #count = 0;

  constructor({ appSecret = "feishu-secret-of-the-app", verificationToken = "verify-me" }: FakeFeishuOptions) {
    this.appSecret = appSecret;
    this.verificationToken = verificationToken;
  }

  get server(): FakeServer {
    if (this.#server === undefined) throw new Error("The fake was not started");
    return this.#server;
  }

  get url(): string {
    return this.server.url;
  }

  async start(): Promise<this> {
    this.#server = await startFakeServer({
      answer: (call) => this.#answer(call),
      onSocket: (socket) => this.line.accept(socket),
      refusesSocket: ({ query }) => (this.#tickets.delete(query.get("ticket") ?? "") ? undefined : 403),
    });
    return this;
  }

  /** All tokens so far end. */
  endTokens(): void {
    this.#tokens.clear();
  }

  keepFile(file: KeptFile): string {
    const key = `${file.filename.endsWith(".png") ? "img" : "file"}_v3_${this.#files.size}`;
    this.#files.set(key, file);
    return key;
  }

  /** Somebody writes. Returns the message's id. */
  write(message: FeishuWrite): string {
    const { id, event } = this.event(message);
    this.line.tell(randomUUID(), event);
    return id;
  }

  /** The same, without that anybody is told. */
  event(message: FeishuWrite): { readonly id: string; readonly event: object } {
    this.#count += 1;
    const id = message.id ?? `om_x${String(this.#count).padStart(6, "0")}`;
    const one = stored(message, id, this.botId);
    if (!this.messages.some(({ message_id: known }) => known === id)) this.messages.push(one);
    return { id, event: this.wrap("im.message.receive_v1", receiveEvent(one, message.group === undefined)) };
  }

  takeBack(id: string): void {
    const found = this.messages.find((one) => one.message_id === id);
    if (found !== undefined) found.deleted = true;
    this.tell("im.message.recalled_v1", { message_id: id, chat_id: found?.chat_id, recall_type: "message_owner" });
  }

  /** Somebody presses the button with this value, in that chat of Feishu's. */
  press(person: string, value: string, chat = directOf(person), eventId = randomUUID()): void {
    const context = { open_message_id: "om_card", open_chat_id: chat };
    const event = {
      operator: { open_id: person },
      token: "c-1",
      action: { value: JSON.parse(value), tag: "button" },
      context,
    };
    this.tell("card.action.trigger", event, eventId);
  }

  tell(type: string, event: object, eventId = randomUUID()): void {
    this.line.tell(randomUUID(), this.wrap(type, event, eventId));
  }

  wrap(event_type: string, event: object, event_id = randomUUID()): object {
    const header = {
      event_id,
      event_type,
      token: this.verificationToken,
      app_id: this.appId,
      create_time: String(Date.now()),
    };
    return { schema: "2.0", header, event };
  }

  /** What was said to who pressed. */
  toasts(): readonly { readonly text: string; readonly isLoud: boolean }[] {
    return this.line.answers.flatMap(({ data }) => {
      const toast = (data as { toast?: { type: string; content: string } } | undefined)?.toast;
      return toast === undefined ? [] : [{ text: toast.content, isLoud: toast.type !== "success" }];
    });
  }

  #answer(call: FakeCall): FakeReply | Promise<FakeReply> {
    const { name, json, headers } = call;
    if (name === "POST /open-apis/auth/v3/tenant_access_token/internal") return this.#giveToken(json);
    if (name === "POST /callback/ws/endpoint") return this.#giveAddress(json);
    if (!this.#tokens.has((headers.authorization ?? "").replace(/^Bearer /, "")))
      return refusal(
        400,
        99_991_663,
        "Invalid access token for authorization. Please make a test attempt with the correct one.",
      );
    if (name === "GET /open-apis/bot/v3/info")
      return { body: { code: 0, msg: "ok", bot: { open_id: this.botId, app_name: "小助手", activate_status: 2 } } };
    const path = name.replace(/^([A-Z]+) \/open-apis\/im\/v1/, "$1 ");
    if (path === "POST /images" || path === "POST /files") return this.#upload(call, path.endsWith("images"));
    if (path === "GET /messages") return this.#list(call.query);
    const [, method = "", id, rest] = /^([A-Z]+) \/messages(?:\/([^/]+))?(\/.*)?$/.exec(path) ?? [];
    if (rest?.startsWith("/resources/")) return this.#resource(rest.slice("/resources/".length));
    if (method === "POST") return this.#post(call, id);
    if (method === "PATCH" && id !== undefined) return this.#patch(call, id);
    if (method === "GET" && id !== undefined) return this.#get(id);
    return { status: 404, body: Buffer.from("404 page not found") };
  }

  #giveToken({ app_id, app_secret }: FakeCall["json"]): FakeReply {
    if (app_id !== this.appId) return { body: { code: 10_003, msg: "invalid app_id" } };
    if (app_secret !== this.appSecret) return { body: { code: 10_014, msg: "app secret invalid" } };
    this.tokensGiven += 1;
    const token = `t-${randomBytes(8).toString("hex")}`;
    this.#tokens.add(token);
    return { body: { code: 0, msg: "ok", tenant_access_token: token, expire: this.tokenSeconds } };
  }

  #giveAddress({ AppID, AppSecret }: FakeCall["json"]): FakeReply {
    if (this.endpointSays !== undefined) return { body: this.endpointSays };
    if (AppID !== this.appId || AppSecret !== this.appSecret) return { body: { code: 514, msg: "auth failed" } };
    const ticket = `ticket-${randomUUID()}`;
    this.#tickets.add(ticket);
    const url = `${this.url.replace("http", "ws")}/ws/v2?device_id=1&service_id=33&ticket=${ticket}`;
    const config = { PingInterval: 120, ReconnectCount: -1, ReconnectInterval: 120, ReconnectNonce: 30 };
    return { body: { code: 0, msg: "", data: { URL: url, ClientConfig: config } } };
  }

  async #upload({ headers, body }: FakeCall, isImage: boolean): Promise<FakeReply> {
    const form = await new Response(new Uint8Array(body), {
      headers: { "content-type": headers["content-type"] ?? "" },
    }).formData();
    const file = form.get(isImage ? "image" : "file");
    if (!(file instanceof File) || file.size === 0) return refusal(400, 234_010, "File's size can't be 0.");
    if (file.size > (isImage ? 10 : 30) * 1024 * 1024) return refusal(400, 234_006, "The file size exceeds the limit.");
    const filename = isImage ? "picture.png" : String(form.get("file_name"));
    if (isImage ? form.get("image_type") !== "message" : typeof form.get("file_type") !== "string")
      return refusal(400, 234_001, "Invalid request param.");
    const key = this.keepFile({ filename, bytes: Buffer.from(await file.arrayBuffer()) });
    return { body: { code: 0, data: isImage ? { image_key: key } : { file_key: key } } };
  }

  #resource(key: string): FakeReply {
    const file = this.#files.get(key);
    return file === undefined ? refusal(400, 234_003, "File not in msg.") : { body: file.bytes };
  }

  /** A message of the bot's: into a chat, or below another message. */
  #post({ json, query, body }: FakeCall, answered: string | undefined): FakeReply {
    const original = this.messages.find(({ message_id: id }) => id === answered);
    if (answered !== undefined && (original === undefined || original.deleted === true))
      return refusal(400, 230_011, "The message was withdrawn.");
    const receiver = String(json.receive_id ?? "");
    const kind = receiver.startsWith("ou_") ? "open_id" : "chat_id";
    if (answered === undefined && query.get("receive_id_type") !== kind)
      return refusal(400, 230_001, "invalid receive_id");
    if (typeof json.uuid !== "string" || json.uuid.length > 50) return refusal(400, 230_001, "uuid");
    const chat = original?.chat_id ?? (kind === "open_id" ? directOf(receiver) : receiver);
    const root = json.reply_in_thread === true ? (original?.root_id ?? original?.message_id) : undefined;
    const content = String(json.content);
    const showing = this.#showing(String(json.msg_type), content, body.length);
    if (!("text" in showing)) return showing;
    const before = this.chats.all.length;
    const to = { chatId: chat.replace(/^oc_direct_/, ""), thread: root, ...showing };
    const id = this.chats.show(to, this.knowsRepeats ? json.uuid : undefined);
    if (this.chats.all.length > before) {
      this.bodies.push(json);
      this.messages.push({
        message_id: id,
        ...(root === undefined ? {} : { root_id: root, parent_id: root, thread_id: threadIdOf(root) }),
        create_time: String(Date.now()),
        chat_id: chat,
        msg_type: String(json.msg_type),
        sender: { id: this.appId, id_type: "app_id", sender_type: "app" },
        body: { content },
      });
    }
    return { body: { code: 0, msg: "success", data: { message_id: id, chat_id: chat } } };
  }

  #showing(type: string, content: string, bytes: number) {
    if (type === "interactive") {
      const card = readCard(content, bytes);
      return "text" in card ? { ...card, files: [] } : card;
    }
    const { image_key: image, file_key: key } = JSON.parse(content) as { image_key?: string; file_key?: string };
    const file = this.#files.get(image ?? key ?? "");
    if (file === undefined || (type === "image") !== (image !== undefined)) return refusal(400, 230_055, "type");
    return { text: "", files: [file], buttons: [] };
  }

  #patch({ json, body }: FakeCall, id: string): FakeReply {
    const card = readCard(String(json.content), body.length);
    if (!("text" in card)) return card;
    if (!this.chats.edit(id, card.text)) return refusal(400, 230_011, "The message was withdrawn.");
    return { body: { code: 0, msg: "success", data: {} } };
  }

  #get(id: string): FakeReply {
    const found = this.messages.find((one) => one.message_id === id);
    if (found === undefined) return refusal(400, 230_110, "The message was deleted.");
    return { body: { code: 0, data: { items: [found] } } };
  }

  /** Threads have no times to ask from, and groups do not list what is in them. */
  #list(query: URLSearchParams): FakeReply {
    const container = query.get("container_id");
    const isThread = query.get("container_id_type") === "thread";
    if (isThread && query.has("start_time")) return refusal(400, 230_001, "start_time");
    const from = Number(query.get("start_time") ?? 0) * 1000;
    const all = this.messages.filter((one) =>
      isThread
        ? one.thread_id === container
        : one.chat_id === container &&
          Number(one.create_time) >= from &&
          (one.thread_id === undefined || one.root_id === undefined),
    );
    all.sort((a, b) => Number(b.create_time) - Number(a.create_time));
    const begin = Number(query.get("page_token") ?? 0);
    const size = Number(query.get("page_size"));
    if (size > 50) return refusal(400, 230_001, "page_size");
    const has_more = begin + size < all.length;
    const items = all.slice(begin, begin + size);
    return { body: { code: 0, data: { items, has_more, ...(has_more ? { page_token: String(begin + size) } : {}) } } };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
  }
}

export async function startFakeFeishu(options: FakeFeishuOptions = {}): Promise<FakeFeishu> {
  return await new FakeFeishu(options).start();
}
