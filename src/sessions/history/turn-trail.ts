import type { Payload } from "../../events/catalogue.js";
import { textOf } from "../../events/content.js";
import type { StoredEvent } from "../../events/event.js";
import { cutText } from "../../util/text/cut-text.js";
import { PackedList } from "../folds/packed-list.js";
import type { History } from "./history.js";

/** A turn that the model still sees. */
export interface SeenTurn {
  readonly turnId: string;
  /** The log up to here tells nothing of the turn. */
  readonly beforeSeq: number;
  /** Who wrote its first message; undefined where the log does not say. */
  readonly asker: { readonly channel: string; readonly senderId: string } | undefined;
  /** The beginning of that message. */
  readonly text: string;
  /** Tools were run: what they did outlasts an undo. */
  readonly usedTools: boolean;
}

export interface Question {
  readonly asker: NonNullable<SeenTurn["asker"]>;
  readonly text: string;
}

const textChars = 80;

/** The turns in a session's present context, in order: what an undo can take back. A fold over the session's events. */
export class TurnTrail {
  readonly #turns = new PackedList<SeenTurn>(withAskerOf);
  /** Messages whose turn has not ended. */
  #questions = new Map<string, Question>();
  #open: { readonly turnId: string; readonly beforeSeq: number; readonly retry?: Retried | undefined } | undefined;

  get folded() {
    return { turns: this.#turns.pack(() => false), questions: this.#questions, open: this.#open };
  }

  restore({ turns, questions, open }: TurnTrail["folded"]): void {
    this.#turns.restore(turns);
    this.#questions = questions;
    this.#open = open;
  }

  get last(): SeenTurn | undefined {
    return this.#turns.last;
  }

  /**
   * Up to which event the past still counts when another message takes the place of the one of this event; undefined where the
   * model does not see it as it was written any more: it was taken back or summarised, or a fresh conversation has begun.
   */
  seqBefore(seq: number, history: Pick<History, "messageAt">): number | undefined {
    const found = history.messageAt(seq);
    if (found === undefined) return undefined;
    const turn = this.#turns.all().findLast(({ turnId }) => turnId === found.turnId);
    // One that had joined a running turn: what came before it in the turn stays.
    return found.beginsTurn && turn !== undefined ? turn.beforeSeq : seq - 1;
  }

  apply(event: StoredEvent): void {
    switch (event.type) {
      case "user_message_queued": {
        const { message_id, channel, sender_id, content } = event.payload;
        const text = cutText(textOf(content), textChars);
        this.#questions.set(message_id, { asker: { channel, senderId: sender_id }, text });
        break;
      }
      case "turn_execution_start":
        if (event.turn_id !== undefined && event.turn_id !== this.#open?.turnId)
          this.#open = { turnId: event.turn_id, beforeSeq: event.seq - 1, retry: retriedIn(event.payload) };
        break;
      case "user_message":
        this.#enter(event.turn_id, event.payload.message_id, event.seq);
        break;
      case "tool_execution_start": {
        this.#turns.replaceLast(
          () => true,
          // What a turn that is tried again does is undone with it.
          (last) => ({
            ...last,
            usedTools: last.usedTools || [event.turn_id, this.#open?.retry?.of].includes(last.turnId),
          }),
        );
        break;
      }
      case "turn_execution_complete":
      case "turn_execution_failed":
      case "turn_execution_cancelled":
        for (const id of event.payload.message_ids) this.#questions.delete(id);
        this.#open = undefined;
        break;
      case "error_occurred":
        if (event.correlation_id !== undefined && !event.payload.recoverable)
          this.#questions.delete(event.correlation_id);
        break;
      case "session_history_changed":
        this.#change(event.payload.kind, event.payload.to_seq ?? 0, event.seq);
        break;
      default:
        break;
    }
  }

  #enter(turnId: string | undefined, messageId: string, seq: number): void {
    if (turnId === undefined || this.last?.turnId === turnId) return;
    const question = this.#questions.get(messageId) ?? this.#questions.get(this.#open?.retry?.messageId ?? "");
    const beforeSeq = this.#open?.turnId === turnId ? this.#open.beforeSeq : seq - 1;
    const turn = { turnId, beforeSeq, asker: question?.asker, text: question?.text ?? "", usedTools: false };
    this.#turns.push(withAskerOf(turn, this.last));
  }

  #change(kind: string, toSeq: number, seq: number): void {
    if (kind === "undo") this.#turns.set(this.#turns.all().filter(({ beforeSeq }) => beforeSeq < toSeq));
    if (kind !== "new" && kind !== "deletion") return;
    this.#turns.set([]);
    // The turn that begins afresh is taken back up to here, not beyond.
    if (this.#open !== undefined) this.#open = { ...this.#open, beforeSeq: seq };
  }
}

/** The failed turn that a turn tries again, and the message that asked for it. */
export interface Retried {
  readonly of: string;
  readonly messageId: string;
}

function retriedIn({
  retry_of: of,
  message_ids: [messageId = ""],
}: Payload<"turn_execution_start">): Retried | undefined {
  return of === undefined ? undefined : { of, messageId };
}

/** There are many turns, of few people. */
function withAskerOf({ turnId, beforeSeq, asker, text, usedTools }: SeenTurn, before: SeenTurn | undefined): SeenTurn {
  const last = before?.asker;
  const isSame = asker !== undefined && last?.channel === asker.channel && last.senderId === asker.senderId;
  return { turnId, beforeSeq, asker: isSame ? last : asker, text, usedTools };
}
