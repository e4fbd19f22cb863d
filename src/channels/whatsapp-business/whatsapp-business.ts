import type { OutboundMessage } from "../../bus/messages.js";
import type { Logger } from "../../log.js";
import { sleep } from "../../util/async/sleep.js";
import type { Channel, OwnChannelContext, Publish, Receipt } from "../channel.js";
import { openWebhook } from "../wire/webhook.js";
import { callMs, Graph, type GraphOptions } from "./graph.js";
import { Receiving } from "./receiving.js";
import { SaidLately } from "./said.js";
import { Sending, type Template, traceOf } from "./sending.js";
import { whatsappBusinessShape } from "./shape.js";
import { Traces } from "./traces.js";

export interface WhatsAppBusinessOptions extends GraphOptions {
  readonly verifyToken: string;
  /** Where messages arrive. Absent: on the gateway's own server. */
  readonly listenAddr?: string | undefined;
  readonly webhookPath?: string | undefined;
  readonly template?: Template | undefined;
  readonly busyRetryMs?: number | undefined;
  /** Between two looks at the number, which show that the token still counts. Default 300,000. */
  readonly lookMs?: number | undefined;
  /** After a look that failed. Default 5000. */
  readonly lookAgainMs?: number | undefined;
  /** How long to wait for a status of a message whose answer did not come. Default 3000. */
  readonly traceMs?: number | undefined;
  readonly log: Logger;
}

const name = "whatsapp-business";
/** WhatsApp shows the sign for 25 s. */
const typingIntervalMs = 20_000;
/** One may fail, and the next says whether it lasts. */
const looksInARow = 3;

/** A business number by Meta's own interface: a webhook brings messages, calls carry ours. */
export function createWhatsAppBusinessChannel(options: WhatsAppBusinessOptions, context: OwnChannelContext): Channel {
  return new WhatsAppBusinessChannel(options, context);
}

class WhatsAppBusinessChannel implements Channel {
  readonly name = name;
  readonly typingIntervalMs = typingIntervalMs;
  readonly files = whatsappBusinessShape.files;
  readonly maxFileBytes = whatsappBusinessShape.maxFileBytes;
  readonly maxButtons = whatsappBusinessShape.maxButtons;
  readonly split = whatsappBusinessShape.split;
  readonly #options: WhatsAppBusinessOptions;
  readonly #context: OwnChannelContext;
  readonly #graph: Graph;
  readonly #said = new SaidLately();
  readonly #traces: Traces;
  readonly #sending: Sending;

  constructor(options: WhatsAppBusinessOptions, context: OwnChannelContext) {
    this.#options = options;
    this.#context = context;
    this.#graph = new Graph(options);
    this.#traces = new Traces(context.records);
    const { template } = options;
    const timeoutMs = context.sendTimeoutMs ?? 30_000;
    this.#sending = new Sending({ graph: this.#graph, said: this.#said, traces: this.#traces, template, timeoutMs });
  }

  async run(publish: Publish, onConnected: () => void, signal: AbortSignal): Promise<void> {
    try {
      await this.#listen(publish, onConnected, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async #listen(publish: Publish, onConnected: () => void, signal: AbortSignal): Promise<void> {
    const { listenAddr, webhookPath: path, lookMs = 300_000, log } = this.#options;
    await this.#graph.look(signal);
    await this.#traces.tidy();
    await using receiving = this.#openReceiving(publish, signal);
    const hook = { name, listenAddr, path, paths: this.#context.webhooks, log };
    await using _webhook = await openWebhook(hook, (request) => receiving.take(request));
    onConnected();
    while (!signal.aborted) {
      await sleep(lookMs, signal);
      await this.#lookOften(signal);
      onConnected();
    }
  }

  #openReceiving(publish: Publish, signal: AbortSignal): Receiving {
    const { phoneNumberId, appSecret, verifyToken, busyRetryMs, log } = this.#options;
    const parts = { graph: this.#graph, sending: this.#sending, said: this.#said, traces: this.#traces };
    const onUndelivered = (chatId: string, why: string): void =>
      log.error(`WhatsApp has not delivered a message to ${chatId}: ${why}`);
    const secrets = { phoneNumberId, appSecret, verifyToken };
    const more = { channel: name, secrets, context: this.#context, onUndelivered, busyRetryMs, log };
    return new Receiving({ ...parts, ...more }, publish, signal);
  }

  /** @throws {ChannelError} what failed last, when none of them works */
  async #lookOften(signal: AbortSignal): Promise<void> {
    const { lookAgainMs = 5000 } = this.#options;
    for (let left = looksInARow - 1; ; left -= 1) {
      try {
        await this.#graph.look(signal);
        return;
      } catch (error) {
        if (left === 0) throw error;
        await sleep(lookAgainMs, signal);
      }
    }
  }

  async send(message: OutboundMessage, signal: AbortSignal): Promise<Receipt> {
    return await this.#sending.send(message, signal);
  }

  async find({ id }: OutboundMessage, _since: number, signal: AbortSignal): Promise<Receipt | undefined> {
    const platformMessageId = await this.#traces.find(traceOf(id), this.#options.traceMs ?? 3000, signal);
    return platformMessageId === undefined ? undefined : { platformMessageId };
  }

  async showTyping(chatId: string, _thread: string | undefined, signal: AbortSignal): Promise<void> {
    const last = this.#said.lastOf(chatId);
    if (last === undefined) return;
    await this.#graph.post({ status: "read", message_id: last, typing_indicator: { type: "text" } }, callMs, signal);
  }

  async forget(chatId: string): Promise<void> {
    this.#said.forget(chatId);
  }
}
