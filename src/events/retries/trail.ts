import type { StoredEvent } from "../event.js";
import { isClosed } from "../folds/session-state.js";
import { messageIn } from "../queued-message.js";

/** What the log says about the message that a turn began with. */
export type AskedMessage = ReturnType<typeof messageIn>;

/** A failed turn that can be tried again. */
export interface FailedTurn {
  readonly turnId: string;
  readonly message: AskedMessage;
  /** What it was asked is in the context, and its calls and their results with it. */
  readonly hasEntered: boolean;
  /** The gateway tries it again by itself. */
  readonly waits: boolean;
}

interface Open {
  readonly turnId: string;
  /** The failed turn that it tries again. */
  readonly again: FailedTurn | undefined;
  readonly message: AskedMessage | undefined;
  hasEntered: boolean;
}

/** More messages do not wait in one session. */
const maxMessages = 1000;

/**
 * Whether the last turn of a session can be tried again. Chat commands do not count as turns here: they put nothing into
 * the context. A fold over the session's events.
 */
export class RetryTrail {
  /** Messages whose turn has not ended. */
  #messages = new Map<string, AskedMessage>();
  #open: Open | undefined;
  #failed: FailedTurn | undefined;
  #last: { readonly turnId: string; readonly hasFailed: boolean } | undefined;
  #asked: { readonly of: string; readonly messageId: string } | undefined;

  get folded() {
    return { messages: this.#messages, failed: this.#failed, last: this.#last, asked: this.#asked };
  }

  restore({ messages, failed, last, asked }: RetryTrail["folded"]): void {
    this.#messages = messages;
    this.#failed = failed;
    this.#last = last;
    this.#asked = asked;
  }

  /** The last turn, where it can be tried again. */
  get failed(): FailedTurn | undefined {
    return this.#failed;
  }

  /** The newest turn that has ended. */
  get last(): { readonly turnId: string; readonly hasFailed: boolean } | undefined {
    return this.#last;
  }

  /** The newest try that was asked for, and of which turn. */
  get asked(): { readonly of: string; readonly messageId: string } | undefined {
    return this.#asked;
  }

  /** What is in the context of the turn that runs. */
  get hasEntered(): boolean {
    return this.#open?.hasEntered === true;
  }

  /** The failed turn of that id, while it can be tried again or is being tried. */
  turnFor(turnId: string): FailedTurn | undefined {
    return [this.#open?.again, this.#failed].find((turn) => turn?.turnId === turnId);
  }

  apply(event: StoredEvent): void {
    switch (event.type) {
      case "user_message_queued":
        this.#queue(messageIn(event.session_key, event));
        break;
      case "turn_execution_start":
        if (event.turn_id !== undefined && event.turn_id !== this.#open?.turnId)
          this.#begin(event.turn_id, event.payload);
        break;
      case "user_message":
        this.#failed = undefined;
        if (this.#open !== undefined) this.#open.hasEntered = true;
        break;
      case "turn_execution_failed":
        this.#fail(event.turn_id ?? "", event.payload.retry);
        this.#end(event.payload.message_ids);
        break;
      case "turn_execution_complete":
      case "turn_execution_cancelled":
        if (this.#open?.hasEntered === true) this.#last = { turnId: this.#open.turnId, hasFailed: false };
        this.#end(event.payload.message_ids);
        break;
      case "error_occurred":
        if (event.correlation_id !== undefined && !event.payload.recoverable)
          this.#messages.delete(event.correlation_id);
        break;
      case "session_state_changed":
        if (isClosed(event.payload.to)) this.#failed = undefined;
        break;
      case "session_history_changed":
        if (event.payload.kind === "fork") this.#beCopy(event.session_key);
        else if (event.payload.kind !== "edit") this.#failed = undefined;
        break;
      default:
        break;
    }
  }

  #queue(message: AskedMessage): void {
    const { id, retry } = message;
    if (retry !== undefined) {
      this.#asked = { of: retry.of, messageId: id };
      return;
    }
    this.#waitNoMore();
    const [oldest] = this.#messages.keys();
    if (this.#messages.size >= maxMessages && oldest !== undefined) this.#messages.delete(oldest);
    this.#messages.set(id, message);
  }

  /** A copy waits for nothing by itself, and answers in no chat of another platform. */
  #beCopy(key: string): void {
    this.#waitNoMore();
    if (this.#failed !== undefined && !key.startsWith(`${this.#failed.message.channel}:`)) this.#failed = undefined;
  }

  #waitNoMore(): void {
    if (this.#failed?.waits === true) this.#failed = { ...this.#failed, waits: false };
  }

  #begin(
    turnId: string,
    { message_ids, retry_of: of }: { readonly message_ids: readonly string[]; readonly retry_of?: string | undefined },
  ): void {
    const again = of !== undefined && this.#failed?.turnId === of ? this.#failed : undefined;
    if (again !== undefined) this.#failed = undefined;
    const message = again?.message ?? this.#messages.get(message_ids[0] ?? "");
    this.#open = { turnId, again, message, hasEntered: again?.hasEntered ?? false };
  }

  #fail(turnId: string, retry: "offered" | "waits" | undefined): void {
    this.#last = { turnId, hasFailed: true };
    const { message, hasEntered = false } = this.#open ?? {};
    this.#failed =
      retry === undefined || message === undefined
        ? undefined
        : { turnId, message, hasEntered, waits: retry === "waits" };
  }

  #end(messageIds: readonly string[]): void {
    for (const id of messageIds) this.#messages.delete(id);
    this.#open = undefined;
  }
}
