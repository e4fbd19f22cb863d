import type { MessageBus } from "../bus/message-bus.js";
import type { InboundMessage } from "../bus/messages.js";
import type { ReceivedMessage } from "../channels/channel.js";
import type { Acceptance } from "../engine/engine.js";
import { EngineError, messageOf } from "../errors.js";
import type { Logger } from "../log.js";
import { InOrder } from "../util/async/in-order.js";
import { within } from "../util/async/within.js";
import type { Urgency } from "./urgency.js";

export interface LaneEntryPorts {
  readonly bus: Pick<MessageBus, "publishInbound">;
  /** Brings older history of the chat in before its first message is stored. */
  readonly prepareSession: (sessionKey: string) => Promise<void>;
  readonly urgency: Urgency;
  readonly log: Logger;
}

/** Longer than this nobody waits for the past of a session, which a storage elsewhere may keep. */
const longestPrepareMs = 5000;

/** Where messages enter the lane of their session, in the order in which they came. */
export class LaneEntry {
  readonly #ports: LaneEntryPorts;
  /** Messages that wait for their files: what is behind them waits as well. */
  readonly #queue = new InOrder<string>();

  constructor(ports: LaneEntryPorts) {
    this.#ports = ports;
  }

  /** Runs `work` behind what has come before it under this name and takes time; at once where there is none. */
  async inOrder<T>(name: string, takesTime: boolean, work: () => Promise<T>): Promise<T> {
    return takesTime || this.#queue.isBusy(name) ? await this.#queue.run(work, name) : await work();
  }

  /** Waits as long as it takes: what is put into the session's folder has to find what is there already. */
  async prepare(sessionKey: string): Promise<void> {
    await this.#ports.prepareSession(sessionKey).catch(() => undefined);
  }

  /**
   * Resolves once the message is durable. `life` aborts when the session is deleted: then nothing of it is stored.
   *
   * @throws {EngineError}
   */
  async accept(message: InboundMessage, life: AbortSignal, cursor?: ReceivedMessage["cursor"]): Promise<Acceptance> {
    const { bus, prepareSession, urgency, log } = this.#ports;
    try {
      await within(prepareSession(message.sessionKey), { ms: longestPrepareMs });
    } catch (error) {
      // Whatever is wrong with its past, the message itself can be kept; its turn says what it could not read.
      log.warn(`The session of a message could not be read: ${messageOf(error)}`, { session: message.sessionKey });
    }
    assertLives(life);
    return await bus.publishInbound(message, { cursor, isUrgent: urgency.hasRoomAnyway(message) });
  }
}

/** A gateway that stops stores what it has begun with. @throws the reason, when the session has been deleted */
function assertLives(life: AbortSignal): void {
  if (life.reason instanceof EngineError) throw life.reason;
}
