import { randomBytes } from "node:crypto";
import { FakeChats } from "../platform/fake-chats.js";
import { type FakeCall, type FakeReply, type FakeServer, startFakeServer } from "../platform/fake-server.js";
import { type QqWrite, qqEvent } from "./events.js";
import { FakeQqGateway } from "./gateway.js";

export interface FakeQqOptions {
  readonly appSecret?: string;
  /** The bot may write without being asked. Default true. */
  readonly mayBegin?: boolean;
  /** The bot may use Markdown and buttons. Default false. */
  readonly hasMarkdown?: boolean;
  /** Texts with addresses are refused. */
  readonly refusesAddresses?: boolean;
}

/** A message of a person, as far as it can be answered. */
interface Answerable {
  readonly chatId: string;
  replies: number;
}

const repeat = refusal(400, 40_054_005, "消息被去重，请检查请求msgseq");
const mostReplies = 5;
const longestText = 5000;

export const sendCall = /^POST \/(?:v2\/users|v2\/groups|channels|dms)\/[^/]+\/messages$/;

/** https://bot.q.qq.com/wiki/develop/api-v2: the access token, the gateway, messages, files, buttons. */
export class FakeQq {
  readonly appId = "102000001";
  readonly appSecret: string;
  readonly botId = "9007199254740993";
  readonly chats = new FakeChats();
  readonly gateway: FakeQqGateway;
  /** Answers to presses. */
  readonly pressed: { readonly id: string; readonly code: number }[] = [];
  /** All bodies of messages that were shown. */
  readonly bodies: Readonly<Record<string, unknown>>[] = [];
  /** Texts with a picture, which QQ would fetch. */
  readonly fetched: string[] = [];
  /** Texts that call everybody, or hold something to press. */
  readonly commands: string[] = [];
  tokensGiven = 0;
  tokenSeconds = 7200;
  readonly #options: FakeQqOptions;
  readonly #tokens = new Set<string>();
  readonly #answerable = new Map<string, Answerable>();
  readonly #files = new Map<string, { readonly filename: string; readonly bytes: Buffer }>();
  readonly #seen = new Set<string>();
  #server: FakeServer | undefined;
  #count = 0;

  constructor(options: FakeQqOptions) {
    this.#options = options;
    this.appSecret = options.appSecret ?? "qq-secret-of-the-bot";
    this.gateway = new FakeQqGateway((token) => this.#tokens.has(token.replace(/^QQBot /, "")), this.botId);
  }

  get server(): FakeServer {
    if (this.#server === undefined) throw new Error("The fake was not started");
    return this.#server;
  }

  get url(): string {
    return this.server.url;
  }

  /** All tokens so far end. */
  endTokens(): void {
    this.#tokens.clear();
  }

  /** No message so far can be answered any more. */
  endReplies(): void {
    this.#answerable.clear();
  }

  /** Somebody writes. Returns the message's id. */
  write(message: QqWrite): string {
    const { type, data, id, chatId } = this.event(message);
    this.gateway.dispatch(type, data);
    this.#answerable.set(id, { chatId, replies: 0 });
    return id;
  }

  /** The same, without that anybody is told. */
  event(message: QqWrite) {
    this.#count += 1;
    const id = message.id ?? `ROBOT1.0_${this.#count}`;
    const files = (message.files ?? []).map((file, index) => {
      const key = `${id}-${index}`;
      this.#files.set(key, file);
      return { ...file, url: `${this.url}/file/${key}` };
    });
    const made = qqEvent({ ...message, files }, id, this.botId);
    this.#answerable.set(id, { chatId: made.chatId, replies: 0 });
    return { ...made, id };
  }

  press(data: Readonly<Record<string, unknown>>): void {
    this.gateway.dispatch("INTERACTION_CREATE", { type: 11, version: 1, ...data });
  }

  async start(): Promise<this> {
    this.#server = await startFakeServer({
      answer: (call) => this.#answer(call),
      onSocket: (socket) => this.gateway.open(socket),
    });
    return this;
  }

  #answer(call: FakeCall): FakeReply {
    const { name, headers } = call;
    if (name === "POST /app/getAppAccessToken") return this.#giveToken(call);
    const [, key] = /^GET \/file\/(.+)$/.exec(name) ?? [];
    if (key !== undefined) return { body: this.#files.get(key)?.bytes ?? Buffer.alloc(0) };
    if (!this.#tokens.has((headers.authorization ?? "").replace(/^QQBot /, "")))
      return refusal(401, 11_244, "token not exist or expire");
    if (name === "GET /users/@me") return { body: { id: this.botId, username: "小助手" } };
    if (name === "GET /gateway") return { body: { url: this.url.replace("http", "ws") } };
    const [, id] = /^PUT \/interactions\/(.+)$/.exec(name) ?? [];
    if (id !== undefined) {
      this.pressed.push({ id, code: Number(call.json.code) });
      return {};
    }
    const [, kind = "", place = "", what] =
      /^POST \/(v2\/users|v2\/groups|channels|dms)\/([^/]+)\/(messages|files)$/.exec(name) ?? [];
    if (what === "files") return this.#upload(call);
    return what === "messages" ? this.#message(kind, decodeURIComponent(place), call) : { status: 404 };
  }

  #giveToken({ json }: FakeCall): FakeReply {
    if (json.appId !== this.appId || json.clientSecret !== this.appSecret)
      return { body: { code: 100_016, message: "invalid appid or secret" } };
    this.tokensGiven += 1;
    const token = `access-${randomBytes(8).toString("hex")}`;
    this.#tokens.add(token);
    return { body: { access_token: token, expires_in: String(this.tokenSeconds) } };
  }

  #upload({ json }: FakeCall): FakeReply {
    const { file_data: data, file_name: filename, srv_send_msg: isSent } = json;
    if (typeof data !== "string" || isSent !== false) return refusal(400, 304_082, "upload media info fail");
    const key = `info-${this.#files.size}`;
    const isPicture = json.file_type === 1;
    this.#files.set(key, {
      filename: String(filename ?? (isPicture ? "cat.png" : "file")),
      bytes: Buffer.from(data, "base64"),
    });
    return { body: { file_uuid: key, file_info: key, ttl: 3600 } };
  }

  #message(kind: string, place: string, call: FakeCall): FakeReply {
    const json = call.headers["content-type"]?.startsWith("multipart/") ? formIn(call.body) : call.json;
    const chatId = kind === "v2/groups" ? `group-${place}` : kind === "channels" ? `channel-${place}` : place;
    const isGuild = kind === "channels" || kind === "dms";
    const refused = this.#refusalOf(json, isGuild) ?? this.#refusalOfReply(json, chatId, isGuild);
    if (refused !== undefined) return refused;
    const { keyboard, media, image } = json as { keyboard?: Keyboard; media?: { file_info: string }; image?: string };
    const text = textOf(json).trim();
    const file = media === undefined ? undefined : this.#files.get(media.file_info);
    const files = file === undefined ? [] : [file];
    const buttons = (keyboard?.content.rows ?? []).flatMap((row) =>
      row.buttons.map(({ render_data: { label }, action: { data } }) => ({ label, value: data })),
    );
    this.bodies.push(json);
    const picture = image === undefined ? [] : [{ filename: "picture.png", bytes: Buffer.from(image) }];
    const id = this.chats.show({ chatId, text, files: [...files, ...picture], buttons });
    return { body: { id, timestamp: 1, ext_info: { ref_idx: `REFIDX_${id}` } } };
  }

  #refusalOf(json: Readonly<Record<string, unknown>>, isGuild: boolean): FakeReply | undefined {
    const text = textOf(json);
    const isMarkdown = json.markdown !== undefined;
    if (/!\[[^\]]*\]\(https?:/.test(text) && isMarkdown) this.fetched.push(text);
    if (/<@|<#|<qqbot-|<emoji:|@everyone/i.test(text)) this.commands.push(text);
    if (isMarkdown && this.#options.hasMarkdown !== true) return refusal(400, 40_034_012, "不允许发送原生 markdown");
    if (json.keyboard !== undefined && !isMarkdown) return refusal(400, 50_037, "keyboard without markdown");
    if (text.length > longestText) return refusal(400, 40_034_006, "消息过长");
    if (json.image === undefined && (isGuild || json.msg_type !== 7) && text.trim() === "")
      return refusal(400, 50_006, "CannotSendEmptyMessage");
    if (json.msg_type === 7 && text === "") return refusal(400, 50_006, "content is needed");
    if (this.#options.refusesAddresses === true && /\w\.[a-z]{2,}/i.test(text))
      return refusal(400, 40_054_010, "消息发送失败, 不允许发送url");
    return undefined;
  }

  #refusalOfReply(json: Readonly<Record<string, unknown>>, chatId: string, isGuild: boolean): FakeReply | undefined {
    const { msg_id: messageId, msg_seq: seq = 1 } = json;
    if (messageId === undefined)
      return this.#options.mayBegin === false ? refusal(400, 40_034_102, "主动消息失败, 无权限") : undefined;
    const answered = this.#answerable.get(String(messageId));
    if (answered === undefined || (!isGuild && answered.chatId !== chatId))
      return refusal(400, 40_034_024, "请求参数msg_id无效或越权");
    if (isGuild) return undefined;
    const key = `${String(messageId)}#${String(seq)}`;
    if (this.#seen.has(key)) return repeat;
    if (answered.replies >= mostReplies) return refusal(400, 22_009, "msg limit exceed");
    this.#seen.add(key);
    answered.replies += 1;
    return undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
  }
}

interface Keyboard {
  readonly content: {
    readonly rows: readonly {
      readonly buttons: readonly {
        readonly render_data: { readonly label: string };
        readonly action: { readonly data: string };
      }[];
    }[];
  };
}

function refusal(status: number, code: number, message: string): FakeReply {
  return { status, body: { code, err_code: code, message, trace_id: "trace" } };
}

/** What a call refuses with, for the shared tests. */
export function plainRefusal(status: number): FakeReply {
  if (status === 404) return { status, body: Buffer.from("<html>upstream</html>") };
  const headers: Readonly<Record<string, string>> = status === 429 ? { "retry-after": "1" } : {};
  return { status, headers, body: { code: status === 400 ? 40_034_006 : 11_244, message: `failed with ${status}` } };
}

function textOf({ content, markdown }: Readonly<Record<string, unknown>>): string {
  if (typeof markdown === "object" && markdown !== null) return String(Reflect.get(markdown, "content"));
  return typeof content === "string" ? content : "";
}

/** The fields of a form, with the picture as `image`. */
function formIn(body: Buffer): Readonly<Record<string, unknown>> {
  const text = body.toString("latin1");
  const [, messageId] = /name="msg_id"\r\n\r\n([^\r]+)/.exec(text) ?? [];
  const [, image] = /name="file_image"[^\r]*\r\n(?:[^\r]+\r\n)*\r\n([\s\S]*?)\r\n--/.exec(text) ?? [];
  return { ...(messageId === undefined ? {} : { msg_id: messageId }), ...(image === undefined ? {} : { image }) };
}

export async function startFakeQq(options: FakeQqOptions = {}): Promise<FakeQq> {
  return await new FakeQq(options).start();
}
