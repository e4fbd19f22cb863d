import type { ChannelRecords } from "../channel.js";
import type { OpenSocket } from "../wire/socket.js";
import type { BridgeFrame, BridgeMessage } from "./frames.js";

const recordId = "keeping-bridge";
const smallest = 1024 * 1024;

/** What a bridge can that keeps messages until they are confirmed. It says so before all else on each connection. */
export class KeepingBridge {
  readonly #records: ChannelRecords | undefined;
  #socket: OpenSocket | undefined;
  #isNew = false;
  #maxFileBytes: number | undefined;
  #isRead = false;

  constructor(records: ChannelRecords | undefined) {
    this.#records = records;
  }

  /** As of the last connection, also before there is one again: answers wait with their files. */
  get maxFileBytes(): number | undefined {
    if (!this.#isRead && this.#maxFileBytes === undefined) {
      const { maxFileBytes } = Object(this.#records?.get(recordId));
      if (typeof maxFileBytes === "number") this.#maxFileBytes = maxFileBytes;
    }
    return this.#maxFileBytes;
  }

  get isOurs(): boolean {
    return this.maxFileBytes !== undefined;
  }

  /** A connection begins. */
  begin(): void {
    this.#socket = undefined;
    this.#isNew = true;
  }

  note(frame: BridgeFrame, socket: OpenSocket): void {
    if (!this.#isNew) return;
    this.#isNew = false;
    this.#isRead = true;
    if (frame.type !== "hello") {
      // The Go maxclaw's: it has no such word.
      this.#maxFileBytes = undefined;
      void this.#records?.delete(recordId).catch(() => undefined);
      return;
    }
    const { maxFileBytes = smallest } = frame;
    this.#socket = socket;
    this.#maxFileBytes = maxFileBytes;
    void this.#records?.put(recordId, { maxFileBytes }).catch(() => undefined);
    void this.say({ type: "listen" });
  }

  /** The gateway has the message, or wants none of it. `isRead`: people may see that it was read. */
  async confirm({ seq }: BridgeMessage, isRead: boolean): Promise<void> {
    if (seq !== undefined) await this.say({ type: "ack", seq, read: isRead });
  }

  /** What does not arrive is asked for again: the bridge gives each message again that was not confirmed. */
  async say(command: object): Promise<void> {
    await this.#socket?.send(JSON.stringify(command)).catch(() => undefined);
  }
}
