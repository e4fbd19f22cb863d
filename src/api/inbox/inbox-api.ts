import type { WaitingQuestion } from "../policy/policy-api.js";

interface InboxCommon {
  /** The kind and a name of its own: `stranger:K7M2P9QX`. */
  readonly id: string;
  /** What it is about: the chat, the stranger, the job. */
  readonly title: string;
  /** What is asked or what went wrong. */
  readonly text: string;
  /** Since when it waits, ISO 8601. */
  readonly at: string;
  readonly channel: string;
}

/** Answered with `POST /api/sessions/{sessionKey}/answer`. */
export interface QuestionItem extends InboxCommon, Omit<WaitingQuestion, "kind" | "question" | "options"> {
  /** `approval`: a tool waits for a yes. */
  readonly kind: "question" | "approval";
  readonly asks: WaitingQuestion["kind"];
  readonly options: readonly {
    readonly id: string;
    readonly label: string;
    readonly description?: string;
    readonly recommended?: boolean;
  }[];
  /** The chat that it is asked in: another session for sub-agents, and for jobs with a conversation of their own. */
  readonly chatKey: string;
}

/** Let in or refused by the code. */
export interface StrangerItem extends InboxCommon {
  readonly kind: "stranger";
  readonly code: string;
  readonly senderId: string;
  readonly senderName?: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** The newest run of a job. It goes once the job has run again, or when it is dismissed. */
export interface FailedJobItem extends InboxCommon {
  readonly kind: "failed_job";
  readonly jobId: string;
  readonly sessionKey: string;
}

/** Sent again or dropped by `letterId`. */
export interface DeadItem extends InboxCommon {
  readonly kind: "dead";
  readonly letterId: string;
  /** A message that was to be answered, or a reply that was to be sent. */
  readonly letter: "message" | "reply";
  readonly sessionKey: string;
  readonly chatId: string;
  /** Why it was given up, as a sentence. */
  readonly reason: string;
}

export type InboxItem = QuestionItem | StrangerItem | FailedJobItem | DeadItem;

export interface InboxView {
  /** All of them, also those that the list has no room for. */
  readonly count: number;
  /** Newest first, 200 at most. */
  readonly items: readonly InboxItem[];
}

/** Everything that waits for a person. */
export interface InboxApi {
  list(): Promise<InboxView>;
  /** A failed run has been looked at. @throws {RequestError} 404 when it does not wait, 400 for anything but a failed run */
  dismiss(id: string): Promise<void>;
}
