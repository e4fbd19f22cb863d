import { ChannelError, messageOf } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import { Background } from "../../../util/async/background.js";
import { type LinkedAbort, linked } from "../../../util/async/linked.js";
import { sleep } from "../../../util/async/sleep.js";
import type { OwnChannelContext, Publish, ReceivedMessage } from "../../channel.js";
import { Inbox } from "../../intake/inbox.js";
import type { IntakeMemory } from "../../intake/memory.js";
import { keepSocket, type OpenSocket, type SocketLimits } from "../../wire/socket.js";
import type { Account, Bot } from "../account.js";
import { title } from "../api.js";
import type { Where } from "../message.js";
import { postNotice } from "../send.js";
import { forRun, isTokenTrouble } from "../slack-error.js";
import { commandIn, type Envelope, eventIn, parseEnvelope, pressIn } from "./envelope.js";
import { isTalkEvent, talkIn } from "./event.js";
import { listConversations } from "./history.js";
import { Intake } from "./intake.js";
import { Interactions } from "./interactions.js";
import { Look } from "./look.js";

export interface ReceivingOptions {
  readonly account: Account;
  readonly bot: Bot;
  readonly memory: IntakeMemory;
  readonly publish: Publish;
  readonly context: OwnChannelContext;
  readonly spans: ReceivingSpans;
  readonly log: Logger;
}

export interface ReceivingSpans {
  /** Between two looks into history for what no event has told about. */
  readonly lookMs: number;
  /** So old a message must be then. */
  readonly graceMs: number;
  readonly busyRetryMs?: number | undefined;
  readonly socket?: Partial<SocketLimits> | undefined;
}

const positionsMs = 5000;
const readsAtOnce = 2;
/** A connection that brings nothing makes room for another at most so often. */
const renewMs = 600_000;
const everyKind = "im,mpim,public_channel,private_channel";

/** What comes in during one run: keeps the socket, reads its envelopes, and confirms each once it is durable. */
export class Receiving implements AsyncDisposable {
  readonly #options: ReceivingOptions;
  /** Aborts when the run ends for whatever reason. */
  readonly #leaving: LinkedAbort;
  readonly #inbox: Inbox;
  readonly #intake: Intake;
  readonly #interactions: Interactions;
  readonly #background: Background;
  readonly #positions: NodeJS.Timeout;
  #conversations: readonly string[] = [];
  #socket: OpenSocket | undefined;
  #isGreeted = false;
  #renewedAt = 0;

  constructor(options: ReceivingOptions, signal: AbortSignal) {
    const { account, bot, memory, publish, context, spans, log } = options;
    this.#options = options;
    this.#leaving = linked(signal);
    const { signal: leaving } = this.#leaving;
    this.#background = new Background((error) => {
      if (!leaving.aborted) log.warn("something on Slack was not answered", { error: messageOf(error) });
    });
    const { actsAtOnce } = context;
    const tell = (to: ReceivedMessage, text: string) => postNotice(account.api, to, text, signal);
    this.#inbox = new Inbox({ title, publish, actsAtOnce, tell, busyRetryMs: spans.busyRetryMs, log }, leaving);
    this.#intake = new Intake({ account, bot, inbox: this.#inbox, memory, actsAtOnce, log }, leaving);
    this.#interactions = new Interactions({ account, bot, publish, context, log }, leaving);
    this.#positions = setInterval(() => this.#background.own(bot.places.write()), positionsMs);
  }

  /** Resolves with the abort. @throws {ChannelError} */
  async run(onConnected: () => void): Promise<void> {
    const { account, spans, log } = this.#options;
    const { signal } = this.#leaving;
    const listening = keepSocket(
      {
        title,
        address: async (limit) => await this.#openAddress(limit),
        onMessage: (data, _isText, socket) => this.#onMessage(data, socket, onConnected),
        onOpen: () => {
          this.#isGreeted = false;
        },
        onAlive: () => {
          if (this.#isGreeted) onConnected();
        },
        limits: spans.socket ?? {},
        log,
      },
      signal,
    );
    const looking = this.#lookAgainAndAgain(new Look({ ...this.#partsOfLook(), api: account.api }));
    try {
      await Promise.race([listening, looking]);
    } finally {
      // The first that fails ends both.
      this.#leaving.abort();
      await Promise.allSettled([listening, looking]);
    }
  }

  #partsOfLook() {
    const { bot, memory, spans, log } = this.#options;
    return { places: bot.places, intake: this.#intake, memory, graceMs: spans.graceMs, log };
  }

  async #openAddress(signal: AbortSignal): Promise<string> {
    try {
      const { url } = await this.#options.account.api.call("apps.connections.open", {}, signal, { as: "appToken" });
      if (typeof url === "string") return url;
    } catch (error) {
      throw forRun(error);
    }
    throw new ChannelError("Slack gave no address for the connection.", { retryable: true });
  }

  #onMessage(data: Buffer, socket: OpenSocket, onConnected: () => void): void {
    const { log } = this.#options;
    const envelope = parseEnvelope(data);
    this.#socket = socket;
    if (envelope === undefined) log.debug("something on Slack's socket is not as documented");
    else if (envelope.type === "hello") this.#onHello(envelope, onConnected);
    else if (envelope.type === "disconnect") this.#onDisconnect(envelope, socket);
    else if (envelope.envelope_id !== undefined) this.#background.own(this.#take(envelope, envelope.envelope_id));
  }

  #onHello({ num_connections: connections = 1 }: Envelope, onConnected: () => void): void {
    this.#isGreeted = true;
    onConnected();
    if (connections > 1)
      this.#options.log.warn(
        "another program is connected to Slack with the same appToken: each gets only a part of the messages",
        { connections },
      );
    this.#intake.beginAgain();
    this.#background.own(this.#catchUp());
  }

  #onDisconnect({ reason }: Envelope, socket: OpenSocket): void {
    if (reason === "link_disabled")
      throw new ChannelError(
        "Slack closed the connection: Socket Mode is off. Switch it on, on the app's page Socket Mode.",
      );
    socket.renew();
  }

  /** All that was missed, the liveliest places first. Slack allows few calls: what somebody writes meanwhile goes first. */
  async #catchUp(): Promise<void> {
    const known = this.#options.bot.places.newestFirst();
    const read = (places: readonly Where[]): Promise<unknown> => {
      const left = places.values();
      const work = async (): Promise<void> => {
        for (const where of left) await this.#intake.catchUp(where);
      };
      return Promise.all(Array.from({ length: readsAtOnce }, work));
    };
    await read(known);
    this.#conversations = await this.#list();
    await read(this.#conversations.map((channel) => ({ channel })));
  }

  /** The conversations of the bot: direct chats alone where it may not ask for more. */
  async #list(): Promise<readonly string[]> {
    const { account, log } = this.#options;
    const { signal } = this.#leaving;
    for (const types of [everyKind, "im"]) {
      try {
        return await listConversations(account.api, types, signal);
      } catch (error) {
        if (signal.aborted) return [];
        log.warn(`the conversations of the bot on Slack cannot be listed: ${messageOf(error)}`, { types });
        if (!isTokenTrouble(error)) return this.#conversations;
      }
    }
    return [];
  }

  async #take(envelope: Envelope, id: string): Promise<void> {
    const { type } = envelope;
    if (type === "events_api" && !(await this.#takeEvent(envelope))) return;
    if (type === "slash_commands") return await this.#takeCommand(envelope, id);
    if (type === "interactive") return await this.#takePress(envelope, id);
    await this.#acknowledge(id);
  }

  async #takeEvent(envelope: Envelope): Promise<boolean> {
    const { bot } = this.#options;
    const payload = eventIn(envelope);
    const own = payload?.authorizations ?? [];
    // The app is in another workspace, too, for which there is no token here.
    if (payload === undefined || (own.length > 0 && !own.some(({ team_id: team }) => team === bot.team))) return true;
    const talk = isTalkEvent(payload.event) ? talkIn(payload.event) : undefined;
    return talk === undefined || (await this.#intake.take(talk));
  }

  async #takeCommand(envelope: Envelope, id: string): Promise<void> {
    const command = commandIn(envelope);
    if (command === undefined) return await this.#acknowledge(id);
    const text = await this.#interactions.takeCommand(command);
    await this.#acknowledge(id, { response_type: "ephemeral", text });
  }

  async #takePress(envelope: Envelope, id: string): Promise<void> {
    const press = pressIn(envelope);
    const tell = press === undefined ? undefined : await this.#interactions.takePress(press);
    await this.#acknowledge(id);
    await tell?.();
  }

  /** An acknowledgement that gets lost brings the event again, which is known then. */
  async #acknowledge(id: string, payload?: object): Promise<void> {
    const answer = payload === undefined ? { envelope_id: id } : { envelope_id: id, payload };
    await this.#socket?.send(JSON.stringify(answer)).catch(() => undefined);
  }

  /** @throws {ChannelError} the token is not good any more */
  async #lookAgainAndAgain(look: Look): Promise<void> {
    const { spans } = this.#options;
    const { signal } = this.#leaving;
    while (!signal.aborted) {
      await sleep(spans.lookMs, signal).catch(() => undefined);
      if (signal.aborted || !this.#isGreeted) continue;
      const unheard = await look.findUnheard(this.#conversations, signal).catch((error: unknown) => {
        throw forRun(error);
      });
      if (unheard.length > 0) this.#onDeaf(unheard.length);
      for (const where of unheard) this.#background.own(this.#intake.catchUpAgain(where));
    }
  }

  #onDeaf(places: number): void {
    this.#options.log.warn("Slack has messages that its connection did not bring: they are read from history", {
      places,
    });
    if (Date.now() - this.#renewedAt < renewMs) return;
    this.#renewedAt = Date.now();
    this.#socket?.renew();
  }

  /** Resolves when nothing is under way any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { places } = this.#options.bot;
    this.#leaving.abort();
    this.#leaving[Symbol.dispose]();
    clearInterval(this.#positions);
    await this.#intake.settled();
    await this.#inbox.settled();
    await Promise.all([places.write(true).catch(() => undefined), this.#background.settled()]);
  }
}
