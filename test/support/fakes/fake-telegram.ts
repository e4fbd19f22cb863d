import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { BotApi } from "./telegram/bot-api.js";
import type { BreakNext, FailNext } from "./telegram/faults.js";
import { chatOf, type SentMessage } from "./telegram/messages.js";
import { callbackQuery, type PushPress, type PushText, textMessage } from "./telegram/people.js";
import type { Signs, TypingSign } from "./telegram/signs.js";
import { isObject, type Json } from "./telegram/wire.js";

export interface FakeTelegramOptions {
  readonly token: string;
  readonly username?: string;
  readonly latencyMs?: number;
  readonly firstUpdateId?: number;
  readonly port?: number;
}

interface Pushed {
  readonly updateId: number;
  readonly messageId: number;
}

/** A Telegram Bot API server on loopback, with faults on demand. Answers at once unless `latencyMs` says otherwise. */
export async function startFakeTelegram(options: FakeTelegramOptions): Promise<FakeTelegram> {
  const server = createServer();
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  return new FakeTelegram(server, options);
}

export class FakeTelegram implements AsyncDisposable {
  /** For `apiRoot`. */
  readonly url: string;
  readonly token: string;
  readonly bot: { readonly id: number; readonly username: string };
  readonly sent: readonly SentMessage[];
  readonly edited: readonly SentMessage[];
  /** Texts, sent or edited, whose addresses Telegram would fetch for a preview. */
  readonly previewed: readonly string[];
  readonly typing: readonly TypingSign[];
  readonly commands: readonly object[];
  /** What was told about presses, in order. */
  readonly toasts: Readonly<Signs["toasts"]>;
  /** Offsets of all getUpdates calls, in order. */
  readonly offsets: readonly number[];
  readonly #server: Server;
  readonly #user: Json;
  readonly #api: BotApi;

  constructor(server: Server, options: FakeTelegramOptions) {
    const { token, username = "maxclaw_test_bot", latencyMs = 0, firstUpdateId = 1000 } = options;
    // A server that listens on TCP has an object as its address.
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.token = token;
    this.bot = { id: Number.parseInt(token, 10) || 4242, username };
    this.#user = { id: this.bot.id, is_bot: true, first_name: "Max", username };
    this.#server = server;
    this.#api = new BotApi({ token, user: this.#user, latencyMs, firstUpdateId });
    ({ sent: this.sent, edited: this.edited, previewed: this.previewed } = this.#api.messages);
    ({ typing: this.typing, commands: this.commands, toasts: this.toasts } = this.#api.signs);
    this.offsets = this.#api.updates.offsets;
    server.on("request", (request, response) => {
      this.#api.answer(request, response).catch((error: unknown) => {
        response.destroy(error instanceof Error ? error : undefined);
      });
    });
  }

  // What people do

  pushText(message: PushText): Pushed {
    return this.pushMessage(textMessage(message, this.#user));
  }

  /** Any message; `message_id`, `date`, `chat` and `from` are filled in when absent. */
  pushMessage(message: Json): Pushed {
    const filled: Json = {
      message_id: this.#api.messages.newId(),
      date: Math.floor(Date.now() / 1000),
      chat: chatOf("42"),
      from: { id: 42, is_bot: false, first_name: "Ada" },
      ...message,
    };
    return this.pushUpdate({ message: filled });
  }

  /** Somebody presses the button of this label below a message of the bot. */
  pushPress(press: PushPress): Pushed {
    const { messages, updates } = this.#api;
    const message = messages.sent.find((one) => one.messageId === press.messageId);
    const shown = (one: SentMessage): Json => messages.shown(one);
    return this.pushUpdate({ callback_query: callbackQuery(`cb${updates.nextId}`, press, message, shown) });
  }

  /** Any update, e.g. `{edited_message: …}`. With `update_id` it is put in as it is, also a second time. */
  pushUpdate(update: Json): Pushed {
    const updateId = this.#api.updates.push(update);
    const { message } = update;
    return { updateId, messageId: isObject(message) ? Number(message.message_id) : 0 };
  }

  /** Keeps a file as if somebody had sent it: its `file_id`. */
  keepFile(bytes: Buffer): string {
    return this.#api.files.keep(bytes);
  }

  // What the bot has done

  /** Calls so far, those that were made to fail included. */
  calls(method: string): number {
    return this.#api.calls.get(method) ?? 0;
  }

  /** The offset of the last getUpdates: all updates below it are confirmed and gone. */
  get confirmedOffset(): number {
    return this.#api.updates.confirmedOffset;
  }

  /** Updates that are not confirmed. */
  get pending(): number {
    return this.#api.updates.pending;
  }

  /** Where updates are brought to, as the bot has set it. */
  get webhook(): { readonly url: string; readonly secret: string } {
    return this.#api.updates.webhook;
  }

  setWebhook(url: string): void {
    this.#api.updates.webhook = { url, secret: "" };
  }

  /** Resolves with all sent messages once there are `count`. */
  async waitForSent(count: number, limitMs = 20_000): Promise<readonly SentMessage[]> {
    const { sent } = this;
    const what = (): string => `${sent.length} of ${count} messages were sent`;
    await this.#api.watch.until(() => sent.length >= count, what, limitMs);
    return sent;
  }

  async waitForConfirmed(offset: number, limitMs = 20_000): Promise<void> {
    const what = (): string => `confirmed up to ${this.confirmedOffset}, not ${offset}`;
    await this.#api.watch.until(() => this.confirmedOffset >= offset, what, limitMs);
  }

  // What goes wrong

  failNext(failure: FailNext): void {
    this.#api.faults.fail(failure);
  }

  /** Destroys the connection before the call is carried out, or after it without an answer. */
  cutNext(options: BreakNext & { readonly when: "before" | "after" }): void {
    this.#api.faults.cut(options);
  }

  /** Never answers. With `carriedOut` the call still has its effect. */
  hangNext(options: BreakNext & { readonly carriedOut?: boolean }): void {
    this.#api.faults.hang(options);
  }

  /** Carries the call out at once and answers it later. */
  answerNextLate(options: BreakNext & { readonly ms: number }): void {
    this.#api.faults.answerLate(options);
  }

  async stop(): Promise<void> {
    this.#api.updates.endPoll();
    if (!this.#server.listening) return;
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
