import type { StoredEvent } from "../../events/event.js";

/** The accepted messages of a session whose turn has not ended. A fold over the session's events. */
export class MessageTrail {
  #queued = new Map<string, string>();
  #aborted = new Set<string>();
  #entered = new Set<string>();

  get folded() {
    return { queued: this.#queued, aborted: this.#aborted, entered: this.#entered };
  }

  restore({ queued, aborted, entered }: MessageTrail["folded"]): void {
    this.#queued = queued;
    this.#aborted = aborted;
    this.#entered = entered;
  }

  /** Event ids of the accepted messages whose turn has not ended, by message id. */
  get queued(): ReadonlyMap<string, string> {
    return this.#queued;
  }

  /** Messages that waited when the session was aborted, and have not ended yet. */
  get aborted(): ReadonlySet<string> {
    return this.#aborted;
  }

  /** Messages that are in the context because they had joined a turn that was given up; their own turn is to come. */
  get entered(): ReadonlySet<string> {
    return this.#entered;
  }

  apply(event: StoredEvent): void {
    switch (event.type) {
      case "user_message_queued":
        this.#queued.set(event.payload.message_id, event.event_id);
        break;
      case "user_message":
        this.#entered.add(event.payload.message_id);
        break;
      case "session_state_changed":
        if (event.payload.to === "aborted") for (const id of this.#queued.keys()) this.#aborted.add(id);
        break;
      case "session_history_changed":
        // A fresh or shorter context may be without them.
        this.#entered.clear();
        break;
      case "error_occurred":
        if (event.correlation_id !== undefined && !event.payload.recoverable) this.#end([event.correlation_id]);
        break;
      case "turn_execution_complete":
      case "turn_execution_failed":
      case "turn_execution_cancelled":
        if (event.turn_id !== undefined) this.#end(event.payload.message_ids);
        break;
      default:
        break;
    }
  }

  #end(messageIds: readonly string[]): void {
    for (const id of messageIds) {
      this.#queued.delete(id);
      this.#aborted.delete(id);
      this.#entered.delete(id);
    }
  }
}
