import type { MessageBus } from "../bus/message-bus.js";
import type { InboundMessage } from "../bus/messages.js";
import type { PublishOutcome } from "../channels/channel.js";
import { EngineError, messageOf } from "../errors.js";
import type { SessionLives } from "../events/session-lives.js";
import type { Logger } from "../log.js";
import { newId } from "../util/ids.js";
import type { Arrival } from "./arrival.js";
import { fetchFiles, hasFiles, type WithFiles } from "./arrival-files.js";
import type { LaneEntry } from "./lane-entry.js";
import type { ReceivedFiles } from "./received-files.js";
import type { RecentTexts } from "./recent-texts.js";
import type { StuckChats } from "./stuck-chats.js";

export interface TakingPorts {
  readonly lanes: LaneEntry;
  /** What arrives while its session is being deleted is for the next one. */
  readonly lives: Pick<SessionLives, "runOrAgain">;
  readonly bus: Pick<MessageBus, "refuseInbound" | "publishOutbound">;
  /** The disk takes writes. */
  readonly isWritable: () => boolean;
  readonly files: Pick<ReceivedFiles, "take">;
  readonly stuck: StuckChats;
  readonly recent: RecentTexts;
  readonly log: Logger;
}

/** What the sender of a message hears that is left with its platform. */
const waitsBecause: Partial<Readonly<Record<EngineError["kind"], string>>> = {
  persistence: "I cannot write to my disk right now. Your message waits, and I take it as soon as there is room.",
  unreadable: "I cannot read my disk right now. Your message waits, and I take it as soon as I can.",
};

/** Takes messages with their files, or says what happens to those that cannot be taken. */
export class Taking {
  readonly #ports: TakingPorts;

  constructor(ports: TakingPorts) {
    this.#ports = ports;
  }

  /** Fetches the files, makes the message durable, and tells its sender what was left out of it. */
  async take(arrival: Arrival, signal: AbortSignal): Promise<PublishOutcome> {
    const { lanes, lives, stuck, recent } = this.#ports;
    try {
      const { message, refusals, acceptance } = await lives.runOrAgain(
        arrival.message.sessionKey,
        async (life) => {
          const filed = await this.#withFiles(arrival, life);
          if (filed.isOnlyTooLarge) return { ...filed, acceptance: undefined };
          return { ...filed, acceptance: await lanes.accept(filed.message, life, arrival.received.cursor) };
        },
        signal,
      );
      if (acceptance === undefined) return { status: "refused", reply: refusals.join("\n") };
      if (acceptance.status === "duplicate") return { status: "duplicate" };
      stuck.end(message.sessionKey);
      recent.keep(message.sessionKey, message.platformMessageId, arrival.message.content);
      const [queued] = acceptance.events;
      if (refusals.length > 0) await this.#reply(message, refusals.join("\n"), queued?.event_id);
      return { status: "accepted" };
    } catch (error) {
      // The platform hands it out again at the next start.
      if (signal.aborted) return { status: "busy", reply: "" };
      if (!(error instanceof EngineError)) throw error;
      return await this.#notTaken(arrival, error);
    }
  }

  /** Its channel has no room to keep it: it is refused for good, and who sent it is told once. */
  async leaveOut({ message, received: { cursor } }: Arrival): Promise<PublishOutcome> {
    const { bus, stuck, log } = this.#ports;
    const { channel, sessionKey } = message;
    try {
      if (!(await bus.refuseInbound(message, cursor))) return { status: "duplicate" };
    } catch (error) {
      if (error instanceof EngineError) return { status: "busy", reply: "" };
      throw error;
    }
    log.warn(`${channel}: a message was left out, because too many of its chat wait`, { session: sessionKey });
    const isFull = new EngineError("Too many messages wait to be taken", { kind: "lane_full" });
    return { status: "refused", ...stuck.refusalFor(sessionKey, isFull) };
  }

  async #withFiles(arrival: Arrival, signal: AbortSignal): Promise<WithFiles> {
    if (!hasFiles(arrival)) return { message: arrival.message, refusals: [], isOnlyTooLarge: false };
    await this.#ports.lanes.prepare(arrival.message.sessionKey);
    return await fetchFiles(arrival, this.#ports.files, signal);
  }

  /** It stays with its platform, unless its chat alone is at fault: left there it would keep away what others send. */
  async #notTaken({ message, received }: Arrival, error: EngineError): Promise<PublishOutcome> {
    const { bus, stuck, log } = this.#ports;
    const { channel, senderId, chatId, sessionKey } = message;
    log.warn(`${channel}: a message was not taken: ${error.message}`, { sender: senderId, chat: chatId });
    const refusal = this.#isOfChat(error) ? stuck.refusalFor(sessionKey, error) : undefined;
    if (refusal === undefined) return { status: "busy", reply: waitsBecause[error.kind] ?? "" };
    // A platform with a position may give it again by itself; all others only if somebody wants it so.
    if (received.cursor !== undefined) await bus.refuseInbound(message, received.cursor);
    return { status: "refused", ...refusal };
  }

  /** It fails while the chats beside it go on. */
  #isOfChat({ kind }: EngineError): boolean {
    const isOfDisk = kind === "persistence" || kind === "unreadable";
    return kind === "lane_full" || kind === "corrupt" || (isOfDisk && this.#ports.isWritable());
  }

  /** Outside of any turn, in the order of the chat's other messages. */
  async #reply(to: InboundMessage, sentence: string, causedBy: string | undefined): Promise<void> {
    const { channel, chatId, thread, sessionKey, id } = to;
    try {
      const out = { id: `${id}-told#1`, channel, chatId, thread, sessionKey, content: sentence, attachments: [] };
      await this.#ports.bus.publishOutbound({ ...out, correlationId: id, queuedEventId: newId("evt") }, causedBy);
    } catch (error) {
      this.#ports.log.warn(`${channel}: a notice was not queued: ${messageOf(error)}`, { chat: chatId });
    }
  }
}
