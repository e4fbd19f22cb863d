import type { IncomingMessage, ServerResponse } from "node:http";
import { Faults } from "./faults.js";
import { Files } from "./files.js";
import { Messages } from "./messages.js";
import { Signs } from "./signs.js";
import { Updates } from "./updates.js";
import { Watch } from "./watch.js";
import { type Call, type Json, type Reply, readSent, refusal, success, write } from "./wire.js";

export interface BotApiOptions {
  readonly token: string;
  readonly user: Json;
  readonly latencyMs: number;
  readonly firstUpdateId: number;
}

/** The Bot API over HTTP: finds out what a call is, and lets the part do it that keeps what it is about. */
export class BotApi {
  readonly watch = new Watch();
  readonly faults = new Faults();
  readonly files = new Files();
  readonly updates: Updates;
  readonly messages: Messages;
  readonly signs: Signs;
  /** How often each method was called. */
  readonly calls = new Map<string, number>();
  readonly #options: BotApiOptions;

  constructor(options: BotApiOptions) {
    const notify = (): void => this.watch.notify();
    this.#options = options;
    this.updates = new Updates(options.firstUpdateId, notify);
    this.messages = new Messages(options.user, notify);
    this.signs = new Signs(notify);
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? "/", "http://localhost");
    const asked = /^\/file\/bot([^/]+)\/files\/(\w+)$/.exec(path.pathname);
    const match = asked === null ? /^\/bot([^/]+)\/(\w+)$/.exec(path.pathname) : [path.pathname, asked[1], "download"];
    const sent = await readSent(request, path);
    if (match === null) return write(response, refusal(404, "Not Found"));
    if (match[1] !== this.#options.token) return write(response, refusal(401, "Unauthorized"));
    const method = match[2] ?? "";
    this.calls.set(method, (this.calls.get(method) ?? 0) + 1);
    const { latencyMs } = this.#options;
    if (latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, latencyMs));
    const call: Call = { ...sent, method, request, response };
    const fault = this.faults.take(method, String(sent.params.chat_id));
    if (fault !== undefined) return fault(call, () => this.#carryOut(call));
    if (asked !== null) return this.files.download(asked[2] ?? "", response);
    write(response, await this.#carryOut(call));
  }

  #carryOut({ method, params, request, file }: Call): Reply | Promise<Reply> {
    switch (method) {
      case "getMe":
        return success({ ...this.#options.user, can_join_groups: true, can_read_all_group_messages: false });
      case "getUpdates":
        return this.updates.get(params, request.socket);
      case "getWebhookInfo":
      case "setWebhook":
      case "deleteWebhook":
        return this.#webhook(method, params);
      case "getFile":
        return this.files.find(String(params.file_id));
      case "sendPhoto":
      case "sendVoice":
      case "sendDocument":
        return this.messages.sendFile(method, params, file);
      case "sendMessage":
        return this.messages.send(params);
      case "editMessageText":
        return this.messages.edit(params);
      case "sendChatAction":
        return this.signs.showAction(params);
      case "answerCallbackQuery":
        return this.signs.answerPress(params);
      case "setMyCommands":
        return this.signs.setCommands(params);
      default:
        return refusal(404, "Not Found: method not found");
    }
  }

  #webhook(method: "getWebhookInfo" | "setWebhook" | "deleteWebhook", params: Json): Reply {
    const { updates } = this;
    if (method === "getWebhookInfo") {
      const { url } = updates.webhook;
      return success({ url, has_custom_certificate: false, pending_update_count: updates.pending });
    }
    if (method === "setWebhook") {
      updates.webhook = { url: String(params.url), secret: String(params.secret_token ?? "") };
      this.watch.notify();
      return success(true);
    }
    updates.webhook = { url: "", secret: "" };
    if (params.drop_pending_updates === true) updates.drop();
    return success(true);
  }
}
