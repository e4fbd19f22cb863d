import type { Api } from "grammy";
import { ChannelError } from "../../errors.js";
import { linked } from "../../util/async/linked.js";
import type { ReceivedFile } from "../channel.js";
import { type ApiOptions, type GrammySignal, openApi, type TelegramClient, toGrammySignal } from "./api.js";
import { download, type TelegramFile, toReceivedFile } from "./files.js";
import type { BotIdentity } from "./receiving/update.js";
import { fileError, pollError, sendError } from "./telegram-error.js";

export const shortCallMs = 15_000;

/** The bot's account at Telegram: its API, who it is, and its files. Outlives a run. */
export class Account {
  readonly #options: ApiOptions;
  #client: Promise<TelegramClient> | undefined;

  constructor(options: ApiOptions) {
    this.#options = options;
  }

  client(): Promise<TelegramClient> {
    this.#client ??= openApi(this.#options);
    return this.#client;
  }

  /** One call with a time limit of its own. @throws {ChannelError} what `toFailure` makes of an error, but not of an abort */
  async call<T>(
    ms: number,
    signal: AbortSignal,
    work: (api: Api, signal: GrammySignal) => Promise<T>,
    toFailure: (error: unknown, timedOut: boolean) => ChannelError = pollError,
  ): Promise<T> {
    const { api } = await this.client();
    using scope = linked(signal, ms);
    try {
      return await work(api, toGrammySignal(scope.signal));
    } catch (error) {
      throw signal.aborted ? error : toFailure(error, scope.signal.aborted);
    }
  }

  /** A call that shows something. @throws {ChannelError} whatever goes wrong, also an abort */
  async show<T>(
    ms: number,
    signal: AbortSignal,
    work: (client: TelegramClient, signal: GrammySignal) => Promise<T>,
  ): Promise<T> {
    const client = await this.client();
    if (signal.aborted) throw new ChannelError("The send was aborted before it began.", { retryable: true });
    using scope = linked(signal, ms);
    try {
      return await work(client, toGrammySignal(scope.signal));
    } catch (error) {
      throw sendError(error, signal.aborted ? "abort" : scope.signal.aborted ? "timeout" : undefined);
    }
  }

  async identify(signal: AbortSignal): Promise<BotIdentity> {
    const { id, username } = await this.call(shortCallMs, signal, (api, limit) => api.getMe(limit));
    return { id, username };
  }

  toFile(file: TelegramFile): ReceivedFile {
    return toReceivedFile(file, async (fileId, maxBytes, signal) => {
      const found = await this.call(shortCallMs, signal, (api, limit) => api.getFile(fileId, limit), fileError);
      if (found.file_path === undefined) throw new ChannelError("Telegram does not give this file.");
      const { agent, fileAddress } = await this.client();
      return await download(fileAddress(found.file_path), agent, maxBytes, signal);
    });
  }
}
