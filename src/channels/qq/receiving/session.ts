import { z } from "zod";
import type { Logger } from "../../../log.js";
import type { ChannelRecords } from "../../channel.js";
import { Position } from "../../intake/position.js";

const stored = z.object({ id: z.string().min(1), seq: z.number().int().min(0) });
const record = "session";

/**
 * Where the connection is in QQ's stream of events. Its `seq` is that of the last event before which, itself included,
 * everything is durable: QQ brings all that came behind it once more. It outlives a run, and a restart.
 */
export class StreamSession {
  readonly #records: ChannelRecords | undefined;
  readonly #log: Logger;
  #id: string | undefined;
  #from: number | undefined;
  #position = new Position<number>();
  #writing: Promise<void> | undefined;
  #isChanged = false;

  constructor(records: ChannelRecords | undefined, log: Logger) {
    this.#records = records;
    this.#log = log;
  }

  /** What an earlier process has left, where this one has nothing yet. */
  restore(): void {
    if (this.#id !== undefined) return;
    const { data } = stored.safeParse(this.#records?.get(record));
    this.#id = data?.id;
    this.#from = data?.seq;
  }

  /** Up to where everything is durable. */
  get seq(): number | undefined {
    return this.#position.value ?? this.#from;
  }

  /** With what it can be resumed. */
  get resumable(): { readonly id: string; readonly seq: number } | undefined {
    const { seq } = this;
    return this.#id === undefined || seq === undefined ? undefined : { id: this.#id, seq };
  }

  /** QQ has begun a new session. */
  begin(id: string): void {
    this.#id = id;
    this.#from = 0;
    this.#position = new Position();
    this.#change();
  }

  /** QQ brings again what was not durable: what is under way from before does not count. */
  goOn(): void {
    this.#from = this.seq;
    this.#position = new Position();
  }

  forget(): void {
    this.#id = undefined;
    this.#from = undefined;
    this.#position = new Position();
    this.#change();
  }

  /** An event has come. Returns what to call once it is settled. */
  take(seq: number): () => void {
    const settled = this.#position.begin(seq);
    return () => {
      settled();
      this.#change();
    };
  }

  /** Resolves once what is known is durable. */
  async written(): Promise<void> {
    await this.#writing;
  }

  /** Many changes in a moment are one write. */
  #change(): void {
    this.#isChanged = true;
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
  }

  async #write(): Promise<void> {
    while (this.#isChanged) {
      this.#isChanged = false;
      const { resumable } = this;
      try {
        if (resumable === undefined) await this.#records?.delete(record);
        else await this.#records?.put(record, resumable);
      } catch (error) {
        // QQ brings more again than it has to, and each message is known by its id.
        this.#log.warn("the position in QQ's events was not stored", { error });
        return;
      }
    }
  }
}
