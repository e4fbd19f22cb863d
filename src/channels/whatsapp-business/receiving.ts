import { LRUCache } from "lru-cache";
import type { Logger } from "../../log.js";
import { Background } from "../../util/async/background.js";
import type { OwnChannelContext, Publish, ReceivedFile, ReceivedMessage } from "../channel.js";
import { Inbox, type Taken } from "../intake/inbox.js";
import type { WebhookAnswer, WebhookRequest } from "../wire/webhook.js";
import { callMs, type Graph } from "./graph.js";
import { sentenceOf } from "./graph-error.js";
import {
  isForNobody,
  parseMessage,
  pressedIn,
  toReceived,
  type WhatsAppFile,
  type WhatsAppMessage,
} from "./message.js";
import type { SaidLately } from "./said.js";
import type { Sending } from "./sending.js";
import type { Traces } from "./traces.js";
import { answerChallenge, type DeliveryStatus, isSigned, type News, newsFor } from "./webhook-body.js";

export interface ReceivingParts {
  readonly channel: string;
  readonly secrets: { readonly phoneNumberId: string; readonly appSecret: string; readonly verifyToken: string };
  readonly graph: Graph;
  readonly sending: Sending;
  readonly said: SaidLately;
  readonly traces: Traces;
  readonly context: Pick<OwnChannelContext, "press" | "actsAtOnce" | "mayTalk">;
  /** A message of ours, that WhatsApp had taken, was not delivered. */
  readonly onUndelivered: (chatId: string, why: string) => void;
  readonly busyRetryMs?: number | undefined;
  readonly log: Logger;
}

/**
 * Meta brings a message again for seven days, and so long its id is known. What is older is a request that somebody has kept.
 * Meta's clock may be ahead of ours by some minutes.
 */
const oldestMs = 7 * 24 * 3600 * 1000 - 10 * 60_000;
const mostPresses = 2000;
/** After a word on a press that does not count, the same one is not said to its person again for so long. */
const toldAgainMs = 60_000;

/** What Meta brings: messages, pressed buttons, and what happened to ours. */
export class Receiving implements AsyncDisposable {
  readonly #parts: ReceivingParts;
  readonly #inbox: Inbox;
  readonly #signal: AbortSignal;
  readonly #underWay = new Map<string, Promise<Taken>>();
  readonly #presses = new LRUCache<string, Promise<true>>({ max: mostPresses });
  readonly #told = new LRUCache<string, true>({ max: mostPresses, ttl: toldAgainMs });
  readonly #asides: Background;

  constructor(parts: ReceivingParts, publish: Publish, signal: AbortSignal) {
    const { context, sending, busyRetryMs, log } = parts;
    this.#parts = parts;
    this.#signal = signal;
    const tell = ({ chatId }: ReceivedMessage, text: string) => sending.tell(chatId, text, callMs, signal);
    this.#inbox = new Inbox(
      { title: "WhatsApp", publish, actsAtOnce: context.actsAtOnce, tell, busyRetryMs, log },
      signal,
    );
    this.#asides = new Background((error) => {
      if (!signal.aborted) log.warn("something beside a message of WhatsApp failed", { error });
    });
  }

  /** 200 only once all of it is durable: Meta brings it again otherwise. */
  async take(request: WebhookRequest): Promise<WebhookAnswer> {
    const { phoneNumberId, appSecret, verifyToken } = this.#parts.secrets;
    if (request.method === "GET") return answerChallenge(request, verifyToken);
    if (!isSigned(request, appSecret)) return { status: 401 };
    const news = newsFor(phoneNumberId, request.body);
    if (news === undefined) return { status: 400 };
    const taken = await Promise.all(news.flatMap((one) => this.#takeAll(one)));
    return { status: taken.includes(false) ? 503 : 200 };
  }

  /** Each: whether it may be confirmed. */
  #takeAll({ statuses, messages, names }: News): readonly Promise<boolean>[] {
    return [
      ...statuses.map((status) => this.#takeStatus(status)),
      ...messages.map((message) => this.#takeMessage(message, names)),
    ];
  }

  async #takeStatus({ id, status, recipient_id: chatId, biz_opaque_callback_data: trace, errors }: DeliveryStatus) {
    const { traces, onUndelivered } = this.#parts;
    if (trace !== undefined) await traces.noteStatus(trace, id, status !== "failed");
    if (status === "failed") onUndelivered(chatId, sentenceOf(errors[0]?.code ?? 0, errors[0]?.title));
    return true;
  }

  async #takeMessage(data: unknown, names: ReadonlyMap<string, string>): Promise<boolean> {
    const parsed = parseMessage(data);
    if (parsed === undefined) {
      this.#parts.log.warn("a message of WhatsApp cannot be read: it does not say who wrote it");
      return true;
    }
    const { read, isBare } = parsed;
    const at = read.timestamp * 1000;
    if (isForNobody(read)) return true;
    if (Date.now() - at > oldestMs) {
      this.#parts.log.warn("an old message of WhatsApp came again and was left out", { id: read.id });
      return true;
    }
    const name = names.get(read.from);
    const pressed = pressedIn(read);
    this.#parts.said.noteHeard(read.from, read.id, at);
    if (pressed !== undefined) return await this.#takePress(read, pressed, name);
    return (await this.#once(read, isBare, name)) !== undefined;
  }

  /** A message that comes again while it is still offered is not offered twice. */
  #once(read: WhatsAppMessage, isBare: boolean, senderName: string | undefined): Promise<Taken> {
    const known = this.#underWay.get(read.id);
    if (known !== undefined) return known;
    const taking = this.#offer(read, isBare, senderName).finally(() => this.#underWay.delete(read.id));
    this.#underWay.set(read.id, taking);
    return taking;
  }

  async #offer(read: WhatsAppMessage, isBare: boolean, senderName: string | undefined): Promise<Taken> {
    const { channel, secrets, said } = this.#parts;
    const { from, id } = read;
    const received = toReceived(read, isBare, {
      channel,
      phoneNumberId: secrets.phoneNumberId,
      senderName,
      saidIn: (messageId) => said.find(messageId, from),
      toFile: (file, filename) => this.#toFile(file, filename),
    });
    const taken = await this.#inbox.take(received);
    if (taken === "accepted") {
      if (received.content !== "") said.note(id, { chatId: from, text: received.content, isOurs: false });
      this.#markRead(id);
    }
    return taken;
  }

  /** It waits for nothing that its chat has sent. The person sees the label in the chat; what is not taken is said. */
  #takePress(read: WhatsAppMessage, value: string, senderName: string | undefined): Promise<true> {
    const known = this.#presses.get(read.id);
    if (known !== undefined) return known;
    const pressing = this.#press(read, value, senderName);
    this.#presses.set(read.id, pressing);
    return pressing;
  }

  async #press({ from, id }: WhatsAppMessage, value: string, senderName: string | undefined): Promise<true> {
    const { context } = this.#parts;
    const outcome = await context.press?.({ chatId: from, chatType: "dm", senderId: from, senderName, value });
    if (outcome?.status === "taken") this.#markRead(id);
    else if (context.mayTalk?.(from, from) !== false)
      this.#tellOnce(from, outcome?.text ?? "Nothing is waiting for this.");
    return true;
  }

  /** Here it is a message, and who wants to can press without end, also what no button of ours says. */
  #tellOnce(person: string, text: string): void {
    const key = `${person} ${text}`;
    if (this.#told.has(key)) return;
    this.#told.set(key, true);
    this.#asides.own(this.#parts.sending.tell(person, text, callMs, this.#signal));
  }

  #markRead(messageId: string): void {
    this.#asides.own(this.#parts.graph.post({ status: "read", message_id: messageId }, callMs, this.#signal));
  }

  #toFile({ id, mime_type: mimeType, voice }: WhatsAppFile, filename: string): ReceivedFile {
    return {
      filename,
      mimeType: mimeType.split(";", 1)[0] ?? "",
      isVoice: voice === true || undefined,
      read: (maxBytes, signal) => this.#parts.graph.download(id, maxBytes, signal),
    };
  }

  /** Resolves when nothing is under way any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#inbox.settled();
    await this.#asides.settled();
  }
}
