import type { Attachment, MessageMode } from "../../bus/messages.js";
import type { Usage } from "../../events/content.js";

export interface SendRequest {
  readonly sessionKey: string;
  readonly content: string;
  readonly channel?: string | undefined;
  readonly chatId?: string | undefined;
  readonly selectedSkills?: readonly string[] | undefined;
  readonly attachments?: readonly Attachment[] | undefined;
  /** Makes the call safe to repeat. */
  readonly messageId?: string | undefined;
  readonly mode?: MessageMode | undefined;
  /** The session is a chat on a platform, and the answer is sent there too. Default false. */
  readonly alsoToChat?: boolean | undefined;
}

/** What happened to a sent message. */
export interface SendOutcome {
  /** Our id of the message, also for a repeated call. */
  readonly messageId: string;
  readonly status: "accepted" | "duplicate";
}

/** How the turn that took a message ended. */
export interface TurnOutcome {
  readonly end: "complete" | "failed" | "cancelled";
  /** The final text, with a remark below it where it was cut, or the sentence that the person was told. */
  readonly response: string;
  readonly turnId: string;
  /** Why a complete turn ended: `end_turn`, `max_tokens`, `max_iterations` … */
  readonly stopReason?: string;
  /** Tokens of all its model calls, where they are known. */
  readonly usage?: Usage;
}

/** Messages to the assistant, and how their turns end. */
export interface MessagesApi {
  /** Resolves once the message is durable. @throws {RequestError} 400 empty or too long, 409 with the state of a session that is over, or `id_used` where another session has taken a message of this id, 429 busy */
  send(request: SendRequest): Promise<SendOutcome>;
  /** Resolves when the turn that holds this message ends; rejects when `signal` aborts. */
  waitForTurn(sessionKey: string, messageId: string, signal: AbortSignal): Promise<TurnOutcome>;
}
