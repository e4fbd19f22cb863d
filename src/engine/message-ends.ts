import type { StoredEvent } from "../events/event.js";
import type { LedgerEntry } from "./engine.js";

/** The code of the event that ends a message of which nobody knows what became, once a person has looked after it. */
export const settledCode = "SETTLED";

interface Ended {
  readonly end: "answered" | "undelivered" | "failed" | "cancelled" | "refused" | "settled";
  readonly seq: number;
}

interface Account {
  readonly messageId: string;
  readonly sessionKey: string;
  readonly acceptedSeq: number;
  /** In which pass over the events it was found first. */
  readonly pass: number;
}

/** What is known about work besides the events. */
export interface WorkLookup {
  /** The last number of what was deleted in a session; 0 where nothing was. */
  readonly deletedSeq: (sessionKey: string) => number;
  readonly isWaiting: (messageId: string) => boolean;
  readonly isDead: (messageId: string) => boolean;
}

/** How each accepted message ended, from the events of all sessions, given in the order of their numbers. */
export class MessageEnds {
  readonly #accounts = new Map<string, Account>();
  readonly #ends = new Map<string, Ended>();
  /** Replies that were given up, by message: one that is sent for again and arrives is taken out. */
  readonly #undelivered = new Map<string, Set<string>>();

  /** Whether any reply is known to have been given up: only then is it of interest which replies arrived. */
  get hasUndelivered(): boolean {
    return this.#undelivered.size > 0;
  }

  /** `pass`: which look at the events this is. */
  note(event: StoredEvent, pass = 1): void {
    const { session_key: sessionKey, seq } = event;
    const idOf = (messageId: string): string => `${sessionKey}\n${messageId}`;
    const end = (messageIds: readonly string[], how: Ended["end"]): void => {
      for (const id of messageIds) this.#end(idOf(id), { end: how, seq });
    };
    switch (event.type) {
      case "user_message_queued": {
        const messageId = event.payload.message_id;
        const id = idOf(messageId);
        if (!this.#accounts.has(id)) this.#accounts.set(id, { messageId, sessionKey, acceptedSeq: seq, pass });
        break;
      }
      case "turn_execution_complete":
        end(event.payload.message_ids, "answered");
        break;
      case "turn_execution_failed":
        end(event.payload.message_ids, "failed");
        break;
      case "turn_execution_cancelled":
        end(event.payload.message_ids, "cancelled");
        break;
      case "error_occurred":
        // Written when a message is buried or turned away; an error that a turn survives is recoverable.
        if (event.correlation_id !== undefined && !event.payload.recoverable)
          end([event.correlation_id], event.payload.code === settledCode ? "settled" : "refused");
        break;
      case "outbound_delivery_changed":
        if (event.correlation_id !== undefined) this.#noteDelivery(idOf(event.correlation_id), event.payload);
        break;
      default:
    }
  }

  /** Every message that was accepted and not deleted, with the pass in which it was found. */
  entries(lookup: WorkLookup): readonly { readonly entry: LedgerEntry; readonly pass: number }[] {
    return [...this.#accounts].flatMap(([id, account]) => {
      const entry = settle(account, this.#endOf(id), lookup);
      return entry === undefined ? [] : [{ entry, pass: account.pass }];
    });
  }

  #end(id: string, ended: Ended): void {
    const known = this.#ends.get(id);
    if (known === undefined || (ended.end === "answered" && known.end !== "answered")) this.#ends.set(id, ended);
  }

  /** What was answered, and whose answer did not reach its chat. */
  #endOf(id: string): Ended | undefined {
    const ended = this.#ends.get(id);
    const lost = this.#undelivered.get(id)?.size ?? 0;
    return ended?.end === "answered" && lost > 0 ? { ...ended, end: "undelivered" } : ended;
  }

  #noteDelivery(
    account: string,
    { outbound_id: id, status }: { readonly outbound_id: string; readonly status: string },
  ): void {
    const lost = this.#undelivered.get(account) ?? new Set();
    if (status === "dead_letter" || status === "refused") this.#undelivered.set(account, lost.add(id));
    else if (status === "sent" && lost.delete(id) && lost.size === 0) this.#undelivered.delete(account);
  }
}

function settle(account: Account, ended: Ended | undefined, lookup: WorkLookup): LedgerEntry | undefined {
  const { messageId, sessionKey, acceptedSeq } = account;
  if (acceptedSeq <= lookup.deletedSeq(sessionKey)) return undefined;
  const about = { messageId, sessionKey, acceptedSeq };
  if (ended !== undefined && ended.end !== "refused") return { ...about, end: ended.end, endSeq: ended.seq };
  if (lookup.isWaiting(messageId)) return { ...about, end: "pending" };
  if (ended !== undefined) return { ...about, end: "refused", endSeq: ended.seq };
  return { ...about, end: lookup.isDead(messageId) ? "refused" : "lost" };
}
