import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { parseTelegramHtml } from "../rules/telegram-entities.js";

/** A message that the bot sent and Telegram took. */
export interface SentMessage {
  readonly messageId: number;
  readonly chatId: string;
  readonly thread?: string;
  /** As people see it: after entity parsing. */
  readonly text: string;
  /** As it came over the wire. */
  readonly raw: string;
  readonly parseMode?: string;
  readonly replyTo?: string;
  /** The inline keyboard, row by row. */
  readonly buttons?: readonly (readonly { readonly text: string; readonly callback_data: string }[])[];
  /** What came with it. `method` is the call, e.g. `sendPhoto`. */
  readonly file?: FakeFile & { readonly method: string };
  /** Unix ms of arrival. */
  readonly at: number;
}

export interface FakeFile {
  readonly filename: string;
  readonly bytes: Buffer;
}

export interface TypingSign {
  readonly chatId: string;
  readonly thread?: string;
  readonly action: string;
  readonly at: number;
}

export interface PushText {
  readonly chatId: string | number;
  readonly userId: string | number;
  readonly text: string;
  /** Default: `private` for a positive chat id, `supergroup` for a negative one. */
  readonly chatType?: "private" | "group" | "supergroup";
  readonly name?: string;
  readonly thread?: number;
  /** A message of the bot (`true` or its id), or of somebody else. */
  readonly replyTo?: { readonly messageId: number; readonly fromBot: boolean };
  readonly entities?: readonly object[];
}

export interface FailNext {
  readonly method: string;
  readonly status: number;
  readonly description?: string;
  /** Seconds, as Telegram says it. */
  readonly retryAfter?: number;
  /** Answered as it is, instead of Telegram's JSON. */
  readonly body?: string;
  readonly chatId?: string;
  readonly times?: number;
}

export interface BreakNext {
  readonly method: string;
  readonly chatId?: string;
  readonly times?: number;
}

export interface FakeTelegram extends AsyncDisposable {
  /** For `apiRoot`. */
  readonly url: string;
  readonly token: string;
  readonly bot: { readonly id: number; readonly username: string };
  pushText(message: PushText): Pushed;
  /** Any message; `message_id`, `date`, `chat` and `from` are filled in when absent. */
  pushMessage(message: Readonly<Record<string, unknown>>): Pushed;
  /** Somebody presses the button of this label below a message of the bot. */
  pushPress(press: {
    readonly messageId: number;
    readonly label: string;
    readonly userId: string | number;
    readonly name?: string;
  }): Pushed;
  /** What was told of presses, in order. */
  readonly toasts: readonly { readonly callbackId: string; readonly text: string; readonly isAlert: boolean }[];
  /** Any update, e.g. `{edited_message: …}`. With `update_id` it is put in as it is, also a second time. */
  pushUpdate(update: Readonly<Record<string, unknown>>): Pushed;
  readonly sent: readonly SentMessage[];
  readonly edited: readonly SentMessage[];
  /** Texts, sent or edited, whose addresses Telegram would fetch for a preview. */
  readonly previewed: readonly string[];
  readonly typing: readonly TypingSign[];
  readonly commands: readonly object[];
  /** Calls so far, those that were made to fail included. */
  calls(method: string): number;
  /** The offset of the last getUpdates: all updates below it are confirmed and gone. */
  readonly confirmedOffset: number;
  /** Offsets of all getUpdates calls, in order. */
  readonly offsets: readonly number[];
  /** Updates that are not confirmed. */
  readonly pending: number;
  failNext(failure: FailNext): void;
  /** Destroys the connection before the call is carried out, or after it without an answer. */
  cutNext(options: BreakNext & { readonly when: "before" | "after" }): void;
  /** Never answers. With `carriedOut` the call still has its effect. */
  hangNext(options: BreakNext & { readonly carriedOut?: boolean }): void;
  /** Carries the call out at once and answers it later. */
  answerNextLate(options: BreakNext & { readonly ms: number }): void;
  setWebhook(url: string): void;
  /** Where updates are brought to, as the bot has set it. */
  readonly webhook: { readonly url: string; readonly secret: string };
  /** Keeps a file as if somebody had sent it: its `file_id`. */
  keepFile(bytes: Buffer): string;
  /** Resolves with all sent messages once there are `count`. */
  waitForSent(count: number, limitMs?: number): Promise<readonly SentMessage[]>;
  waitForConfirmed(offset: number, limitMs?: number): Promise<void>;
  stop(): Promise<void>;
}

export interface Pushed {
  readonly updateId: number;
  readonly messageId: number;
}

type Json = Readonly<Record<string, unknown>>;

interface Fault {
  readonly method: string;
  readonly chatId: string | undefined;
  left: number;
  readonly act: (call: Call, carryOut: () => Reply | Promise<Reply>) => void;
}

interface Call {
  readonly method: string;
  readonly params: Json;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly file: FakeFile | undefined;
}

interface Reply {
  readonly status: number;
  readonly body: Json;
}

interface Poll {
  readonly answer: (reply: Reply) => void;
  readonly limit: number;
}

/** A Telegram Bot API server on loopback, with faults on demand. Answers at once unless `latencyMs` says otherwise. */
export async function startFakeTelegram(options: {
  readonly token: string;
  readonly username?: string;
  readonly latencyMs?: number;
  readonly firstUpdateId?: number;
  readonly port?: number;
}): Promise<FakeTelegram> {
  const { token, username = "maxclaw_test_bot", latencyMs = 0 } = options;
  const bot = { id: Number.parseInt(token, 10) || 4242, username };
  const botUser = { id: bot.id, is_bot: true, first_name: "Max", username };
  const sent: SentMessage[] = [];
  const edited: SentMessage[] = [];
  const previewed: string[] = [];
  const typing: TypingSign[] = [];
  const commands: object[] = [];
  const toasts: { callbackId: string; text: string; isAlert: boolean }[] = [];
  const offsets: number[] = [];
  const calls = new Map<string, number>();
  const faults: Fault[] = [];
  const watchers = new Set<() => void>();
  let updates: Json[] = [];
  let nextUpdateId = options.firstUpdateId ?? 1000;
  let nextMessageId = 1;
  let confirmedOffset = 0;
  let allowedUpdates: readonly string[] = [];
  let webhook = { url: "", secret: "" };
  const kept = new Map<string, Buffer>();
  let poll: Poll | undefined;

  const notify = (): void => {
    for (const watcher of watchers) watcher();
  };

  const ready = (limit: number): Json[] => {
    if (allowedUpdates.length > 0) updates = updates.filter((update) => allowedUpdates.some((kind) => kind in update));
    return updates.slice(0, limit);
  };

  function getUpdates(params: Json, request: IncomingMessage): Reply | Promise<Reply> {
    if (webhook.url !== "") {
      return refusal(409, "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook first");
    }
    poll?.answer(
      refusal(409, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"),
    );
    const offset = Number(params.offset ?? 0);
    offsets.push(offset);
    if (offset > 0) {
      confirmedOffset = Math.max(confirmedOffset, offset);
      updates = updates.filter((update) => Number(update.update_id) >= offset);
    } else if (offset < 0) {
      updates = updates.slice(offset);
    }
    if (Array.isArray(params.allowed_updates)) allowedUpdates = params.allowed_updates.map(String);
    notify();
    const limit = Math.min(Number(params.limit ?? 100), 100);
    const now = ready(limit);
    const timeoutMs = Number(params.timeout ?? 0) * 1000;
    if (now.length > 0 || timeoutMs === 0) return success(now);
    return new Promise((resolve) => {
      const mine: Poll = {
        limit,
        answer: (reply) => {
          clearTimeout(timer);
          request.socket.removeListener("close", onClose);
          if (poll === mine) poll = undefined;
          resolve(reply);
        },
      };
      const onClose = (): void => mine.answer(success([]));
      const timer = setTimeout(onClose, timeoutMs);
      poll = mine;
      request.socket.once("close", onClose);
    });
  }

  function textOf(params: Json): { readonly text: string } | Reply {
    const raw = String(params.text ?? "");
    const parsed = params.parse_mode === "HTML" ? parseTelegramHtml(raw) : { text: raw };
    if ("error" in parsed) return refusal(400, parsed.error);
    const text = parsed.text.trim();
    if (text === "") return refusal(400, "Bad Request: message text is empty");
    if (text.length > 4096) return refusal(400, "Bad Request: message is too long");
    return { text };
  }

  function toSent(params: Json, text: string, messageId: number): SentMessage {
    const reply = params.reply_parameters;
    const replyTo = isObject(reply) ? reply.message_id : undefined;
    const preview = params.link_preview_options;
    // Only texts have previews: files and what is written below them have none.
    if (text !== "" && !(isObject(preview) && preview.is_disabled === true)) previewed.push(text);
    return {
      messageId,
      chatId: String(params.chat_id),
      text,
      raw: String(params.text),
      at: Date.now(),
      ...(params.message_thread_id === undefined ? {} : { thread: String(params.message_thread_id) }),
      ...(params.parse_mode === undefined ? {} : { parseMode: String(params.parse_mode) }),
      ...(replyTo === undefined ? {} : { replyTo: String(replyTo) }),
      ...(isObject(params.reply_markup) ? { buttons: keyboardOf(params.reply_markup) } : {}),
    };
  }

  function shown(message: SentMessage): Json {
    return {
      message_id: message.messageId,
      date: Math.floor(message.at / 1000),
      chat: chatOf(message.chatId),
      from: botUser,
      text: message.text,
    };
  }

  function sendFile(method: string, params: Json, file: FakeFile | undefined): Reply {
    if (file === undefined) return refusal(400, "Bad Request: there is no file in the request");
    if (method === "sendPhoto" && file.bytes.toString().startsWith("no image"))
      return refusal(400, "Bad Request: IMAGE_PROCESS_FAILED");
    const message = { ...toSent({ ...params, text: "" }, "", nextMessageId++), file: { ...file, method } };
    sent.push(message);
    notify();
    return success(shown(message));
  }

  function carryOut(
    method: string,
    params: Json,
    request: IncomingMessage,
    file: FakeFile | undefined,
  ): Reply | Promise<Reply> {
    switch (method) {
      case "getMe":
        return success({ ...botUser, can_join_groups: true, can_read_all_group_messages: false });
      case "getUpdates":
        return getUpdates(params, request);
      case "getWebhookInfo":
        return success({ url: webhook.url, has_custom_certificate: false, pending_update_count: updates.length });
      case "setWebhook":
        webhook = { url: String(params.url), secret: String(params.secret_token ?? "") };
        notify();
        return success(true);
      case "getFile": {
        const bytes = kept.get(String(params.file_id));
        if (bytes === undefined) return refusal(400, "Bad Request: wrong file_id");
        const id = String(params.file_id);
        return success({ file_id: id, file_unique_id: id, file_size: bytes.length, file_path: `files/${id}` });
      }
      case "sendPhoto":
      case "sendVoice":
      case "sendDocument":
        return sendFile(method, params, file);
      case "deleteWebhook":
        webhook = { url: "", secret: "" };
        if (params.drop_pending_updates === true) updates = [];
        return success(true);
      case "setMyCommands":
        commands.splice(0, commands.length, ...(Array.isArray(params.commands) ? params.commands : []));
        return success(true);
      case "sendChatAction": {
        const thread = params.message_thread_id;
        typing.push({
          chatId: String(params.chat_id),
          action: String(params.action),
          at: Date.now(),
          ...(thread === undefined ? {} : { thread: String(thread) }),
        });
        notify();
        return success(true);
      }
      case "sendMessage": {
        if (params.chat_id === undefined) return refusal(400, "Bad Request: chat_id is empty");
        const text = textOf(params);
        if ("status" in text) return text;
        const message = toSent(params, text.text, nextMessageId++);
        sent.push(message);
        notify();
        return success(shown(message));
      }
      case "answerCallbackQuery": {
        const { callback_query_id: callbackId, text = "", show_alert: isAlert } = params;
        if (String(text).length > 200) return refusal(400, "Bad Request: MESSAGE_TOO_LONG");
        toasts.push({ callbackId: String(callbackId), text: String(text), isAlert: isAlert === true });
        notify();
        return success(true);
      }
      case "editMessageText": {
        const old = sent.find((message) => message.messageId === Number(params.message_id));
        if (old === undefined) return refusal(400, "Bad Request: message to edit not found");
        const text = textOf(params);
        if ("status" in text) return text;
        const before = edited.findLast(({ messageId }) => messageId === old.messageId) ?? old;
        if (before.text === text.text && before.buttons === undefined)
          return refusal(400, "Bad Request: message is not modified");
        const message = toSent(params, text.text, old.messageId);
        edited.push(message);
        notify();
        return success(shown(message));
      }
      default:
        return refusal(404, "Not Found: method not found");
    }
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? "/", "http://localhost");
    const asked = /^\/file\/bot([^/]+)\/files\/(\w+)$/.exec(path.pathname);
    const match = asked === null ? /^\/bot([^/]+)\/(\w+)$/.exec(path.pathname) : [path.pathname, asked[1], "download"];
    const { params, file } = await readParams(request, path);
    if (match === null) return write(response, refusal(404, "Not Found"));
    if (match[1] !== token) return write(response, refusal(401, "Unauthorized"));
    const method = match[2] ?? "";
    calls.set(method, (calls.get(method) ?? 0) + 1);
    if (latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, latencyMs));
    const run = (): Reply | Promise<Reply> => carryOut(method, params, request, file);
    const chatId = String(params.chat_id);
    const index = faults.findIndex(
      (fault) => fault.method === method && (fault.chatId === undefined || fault.chatId === chatId),
    );
    const fault = faults[index];
    if (fault === undefined && asked !== null) {
      const bytes = kept.get(asked[2] ?? "");
      return void response.writeHead(bytes === undefined ? 404 : 200).end(bytes);
    }
    if (fault === undefined) return write(response, await run());
    fault.left -= 1;
    if (fault.left <= 0) faults.splice(index, 1);
    fault.act({ method, params, request, response, file }, run);
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined);
    });
  });
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  function addFault(options: BreakNext, act: Fault["act"]): void {
    faults.push({ method: options.method, chatId: options.chatId, left: options.times ?? 1, act });
  }

  function until(done: () => boolean, what: () => string, limitMs: number): Promise<void> {
    if (done()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void): void => {
        clearTimeout(timer);
        watchers.delete(check);
        settle();
      };
      const check = (): void => {
        if (done()) finish(resolve);
      };
      const timer = setTimeout(() => finish(() => reject(new Error(`After ${limitMs} ms: ${what()}`))), limitMs);
      watchers.add(check);
    });
  }

  function pushUpdate(update: Json): Pushed {
    const updateId = typeof update.update_id === "number" ? update.update_id : nextUpdateId;
    nextUpdateId = Math.max(nextUpdateId, updateId + 1);
    updates.push({ update_id: updateId, ...update });
    if (poll !== undefined) {
      const now = ready(poll.limit);
      if (now.length > 0) poll.answer(success(now));
    }
    const message = update.message;
    return { updateId, messageId: isObject(message) ? Number(message.message_id) : 0 };
  }

  function pushMessage(message: Json): Pushed {
    const filled: Json = {
      message_id: nextMessageId++,
      date: Math.floor(Date.now() / 1000),
      chat: chatOf("42"),
      from: { id: 42, is_bot: false, first_name: "Ada" },
      ...message,
    };
    return pushUpdate({ message: filled });
  }

  const stop = async (): Promise<void> => {
    poll?.answer(success([]));
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  };

  return {
    url: `http://127.0.0.1:${port}`,
    token,
    bot,
    sent,
    edited,
    previewed,
    typing,
    commands,
    offsets,
    calls: (method) => calls.get(method) ?? 0,
    get confirmedOffset() {
      return confirmedOffset;
    },
    get pending() {
      return updates.length;
    },
    toasts,
    pushUpdate,
    pushMessage,
    pushPress({ messageId, label, userId, name }) {
      const message = sent.find((one) => one.messageId === messageId);
      const button = message?.buttons?.flat().find((one) => one.text === label);
      if (message === undefined || button === undefined) throw new Error(`There is no button ${label}`);
      const callback_query = {
        id: `cb${nextUpdateId}`,
        from: { id: Number(userId), is_bot: false, first_name: name ?? `User ${userId}` },
        chat_instance: "1",
        data: button.callback_data,
        message: {
          ...shown(message),
          ...(message.thread === undefined
            ? {}
            : { message_thread_id: Number(message.thread), is_topic_message: true }),
        },
      };
      return pushUpdate({ callback_query });
    },
    pushText(message) {
      const reply = message.replyTo;
      const chat = chatOf(String(message.chatId), message.chatType);
      return pushMessage({
        chat,
        from: { id: Number(message.userId), is_bot: false, first_name: message.name ?? `User ${message.userId}` },
        text: message.text,
        ...(message.entities === undefined ? {} : { entities: message.entities }),
        ...(message.thread === undefined ? {} : { message_thread_id: message.thread, is_topic_message: true }),
        ...(reply === undefined
          ? {}
          : {
              reply_to_message: {
                message_id: reply.messageId,
                date: 0,
                chat,
                from: reply.fromBot ? botUser : { id: 7, is_bot: false, first_name: "Bob" },
              },
            }),
      });
    },
    failNext(failure) {
      addFault(failure, ({ response }) => {
        if (failure.body !== undefined) {
          response.writeHead(failure.status, { "content-type": "text/html" }).end(failure.body);
          return;
        }
        const description = failure.description ?? defaultDescription(failure.status, failure.retryAfter);
        write(response, refusal(failure.status, description, failure.retryAfter));
      });
    },
    cutNext(options) {
      addFault(options, async ({ request }, run) => {
        if (options.when === "after") await run();
        request.socket.destroy();
      });
    },
    hangNext(options) {
      addFault(options, (_call, run) => {
        if (options.carriedOut === true) void run();
      });
    },
    answerNextLate(options) {
      addFault(options, async ({ response }, run) => {
        const reply = await run();
        setTimeout(() => write(response, reply), options.ms);
      });
    },
    setWebhook(url) {
      webhook = { url, secret: "" };
    },
    get webhook() {
      return webhook;
    },
    keepFile(bytes) {
      const id = `file${kept.size + 1}`;
      kept.set(id, bytes);
      return id;
    },
    async waitForSent(count, limitMs = 5000) {
      await until(
        () => sent.length >= count,
        () => `${sent.length} of ${count} messages were sent`,
        limitMs,
      );
      return sent;
    },
    waitForConfirmed: (offset, limitMs = 5000) =>
      until(
        () => confirmedOffset >= offset,
        () => `confirmed up to ${confirmedOffset}, not ${offset}`,
        limitMs,
      ),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function chatOf(chatId: string, type?: string): Json {
  const id = Number(chatId);
  const chatType = type ?? (id < 0 ? "supergroup" : "private");
  return chatType === "private" ? { id, type: chatType, first_name: "Chat" } : { id, type: chatType, title: "Group" };
}

function keyboardOf(markup: Json): NonNullable<SentMessage["buttons"]> {
  const rows = Array.isArray(markup.inline_keyboard) ? markup.inline_keyboard : [];
  for (const { text, callback_data } of rows.flat() as { text: string; callback_data: string }[])
    if (!text || Buffer.byteLength(callback_data) > 64) throw new Error(`BUTTON_DATA_INVALID: ${callback_data}`);
  return rows;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null;
}

async function readParams(
  request: IncomingMessage,
  path: URL,
): Promise<{ readonly params: Json; readonly file: FakeFile | undefined }> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const query = Object.fromEntries(path.searchParams);
  if (chunks.length === 0) return { params: query, file: undefined };
  const type = request.headers["content-type"] ?? "";
  if (type.startsWith("multipart/form-data")) return readForm(Buffer.concat(chunks), type, query);
  const body: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
  return { params: isObject(body) ? { ...query, ...body } : query, file: undefined };
}

/** By hand, because grammY writes its parts with less space than Node's own reader asks for. */
function readForm(body: Buffer, type: string, query: Json): Awaited<ReturnType<typeof readParams>> {
  const boundary = `--${/boundary=(.+)$/.exec(type)?.[1] ?? ""}`;
  const params: Record<string, unknown> = { ...query };
  let file: FakeFile | undefined;
  for (const part of body.toString("latin1").split(boundary).slice(1, -1)) {
    const [head = "", ...rest] = part.split("\r\n\r\n");
    const content = rest.join("\r\n\r\n").replace(/\r\n$/, "");
    const bytes = Buffer.from(content, "latin1");
    const name = /[; ]name="?([^";\r\n]+)/.exec(head)?.[1] ?? "";
    const filename = /filename="?([^";\r\n]+)/.exec(head)?.[1];
    if (filename !== undefined) file = { filename, bytes };
    // A field that holds an object comes as JSON.
    else params[name] = /^[[{]/.test(content) ? JSON.parse(bytes.toString("utf8")) : bytes.toString("utf8");
  }
  return { params, file };
}

function success(result: unknown): Reply {
  return { status: 200, body: { ok: true, result } };
}

function refusal(status: number, description: string, retryAfter?: number): Reply {
  return {
    status,
    body: {
      ok: false,
      error_code: status,
      description,
      ...(retryAfter === undefined ? {} : { parameters: { retry_after: retryAfter } }),
    },
  };
}

function defaultDescription(status: number, retryAfter?: number): string {
  if (status === 429) return `Too Many Requests: retry after ${retryAfter ?? 1}`;
  if (status === 401) return "Unauthorized";
  if (status === 403) return "Forbidden: bot was blocked by the user";
  if (status === 409)
    return "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running";
  return status >= 500 ? "Internal Server Error" : "Bad Request: refused";
}

function write(response: ServerResponse, reply: Reply): void {
  if (response.destroyed || response.socket === null || response.socket.destroyed) return;
  const body = JSON.stringify(reply.body);
  response
    .writeHead(reply.status, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
    .end(body);
}
