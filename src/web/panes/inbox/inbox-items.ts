export const inboxKinds = ["question", "approval", "stranger", "failed_job", "dead"] as const;
export type InboxKind = (typeof inboxKinds)[number];

/** One thing that waits. What its kind does not have is empty. */
export interface InboxItem {
  readonly id: string;
  readonly kind: InboxKind;
  readonly title: string;
  readonly text: string;
  /** ISO 8601. */
  readonly at: string;
  readonly channel: string;
  /** ISO 8601, or empty. */
  readonly expiresAt: string;
  /** The chat to look at, or empty. */
  readonly chatKey: string;
  readonly question: InboxQuestion | undefined;
  /** Of a stranger, where the platform gives no name `title` is the same. */
  readonly senderId: string;
  /** By what it is acted on: a code, a job's id, a letter's id. */
  readonly name: string;
  readonly letter: { readonly isReply: boolean; readonly chatId: string; readonly reason: string } | undefined;
}

export interface InboxQuestion {
  readonly requestId: string;
  /** The session that asks, which may be below the chat. */
  readonly sessionKey: string;
  readonly asks: string;
  readonly options: readonly {
    readonly id: string;
    readonly label: string;
    readonly description: string;
    readonly isRecommended: boolean;
  }[];
  readonly fields: readonly string[];
  readonly allowCustom: boolean;
  /** Everything that would run, with what cannot be seen made visible. */
  readonly input: readonly { readonly name: string; readonly value: string }[];
}

export interface InboxList {
  readonly count: number;
  readonly items: readonly InboxItem[];
}
