import type { OutboundMessage } from "../../bus/messages.js";
import { ChannelError } from "../../errors.js";
import type { Logger } from "../../log.js";
import type { Channel, OwnChannelContext, Publish, Receipt } from "../channel.js";
import { Account, type EncryptionSetting } from "./account.js";
import { part } from "./api.js";
import type { Credentials } from "./kept/login.js";
import { forRun } from "./matrix-error.js";
import { IntakeMemory } from "./receiving/memory.js";
import { Progress } from "./receiving/progress.js";
import { Receiving, type ReceivingSpans } from "./receiving/receiving.js";
import { Sending } from "./send.js";
import { matrixShape } from "./shape.js";

export interface MatrixOptions extends Credentials {
  /** Everybody's invitations are accepted. Default false. */
  readonly takesAll?: boolean | undefined;
  /** Absent: the bot neither reads nor writes in encrypted rooms. */
  readonly encryption?: EncryptionSetting | undefined;
  readonly spans?: Partial<ReceivingSpans> | undefined;
  readonly log: Logger;
}

/** Each edit is an event that stays: homeservers allow few of them, and say so. */
const liveEditMs = 2500;
const typingMs = 12_000;
const typingIntervalMs = 9000;
const spans: ReceivingSpans = { pollMs: 30_000, graceMs: 15_000, keyWaitMs: 20_000 };

/** Matrix by its client-server API. What was sent is known to the homeserver by an id of ours, so that nothing is shown twice. */
export class MatrixChannel implements Channel {
  readonly name = "matrix";
  readonly liveEditMs = liveEditMs;
  readonly typingIntervalMs = typingIntervalMs;
  readonly files = matrixShape.files;
  readonly maxButtons = matrixShape.maxButtons;
  readonly split = matrixShape.split;
  readonly #options: MatrixOptions;
  readonly #context: OwnChannelContext;
  readonly #account: Account;
  readonly #sending: Sending;
  readonly #memory = new IntakeMemory();
  #progress: Progress | undefined;
  #ownId: string | undefined;

  constructor(options: MatrixOptions, context: OwnChannelContext) {
    const { log, encryption } = options;
    this.#options = options;
    this.#context = context;
    this.#account = new Account(options, context.records, { log, encryption });
    this.#sending = new Sending(this.#account, log);
  }

  get ownId(): string | undefined {
    return this.#ownId;
  }

  /** What the homeserver takes, where it says so. */
  get maxFileBytes(): number {
    return Math.min(matrixShape.maxFileBytes, this.#account.maxUpload ?? Number.POSITIVE_INFINITY);
  }

  async run(publish: Publish, onConnected: () => void, signal: AbortSignal): Promise<void> {
    try {
      const account = this.#account;
      const bot = await account.identify(signal);
      this.#ownId = bot.id;
      const { log, takesAll = false } = this.#options;
      const encryption = await account.encryption(signal);
      this.#progress ??= new Progress(bot.id, this.#context.records);
      const kept = { account, bot, sending: this.#sending, memory: this.#memory, progress: this.#progress, encryption };
      const parts = { ...kept, publish, context: this.#context, takesAll, log };
      await using receiving = new Receiving({ ...parts, spans: { ...spans, ...this.#options.spans } }, signal);
      await receiving.run(onConnected);
    } catch (error) {
      if (!signal.aborted) throw forRun(error);
    }
  }

  async send(message: OutboundMessage, signal: AbortSignal): Promise<Receipt> {
    if (signal.aborted) throw new ChannelError("The send was aborted before it began.", { retryable: true });
    return { platformMessageId: await this.#sending.send(message, this.#sendMs, signal) };
  }

  async edit(message: Parameters<NonNullable<Channel["edit"]>>[0], signal: AbortSignal): Promise<void> {
    await this.#sending.edit(message, this.#sendMs, signal);
  }

  async showTyping(chatId: string, _thread: string | undefined, signal: AbortSignal): Promise<void> {
    const { id } = await this.#account.identify(signal);
    const room = await this.#account.roomOf(chatId, signal);
    const path = `/client/v3/rooms/${part(room)}/typing/${part(id)}`;
    const body = { typing: true, timeout: typingMs };
    await this.#account.api.call({ method: "PUT", path, body, what: "the typing sign" }, signal);
  }

  get #sendMs(): number {
    return this.#context.sendTimeoutMs ?? 30_000;
  }
}
