/** A message as Slack keeps it. */
export interface StoredMessage {
  readonly type: "message";
  readonly ts: string;
  readonly user: string;
  text: string;
  readonly bot_id?: string;
  readonly subtype?: string;
  readonly thread_ts?: string;
  readonly parent_user_id?: string;
  readonly files?: readonly object[];
  readonly attachments?: readonly object[];
  readonly metadata?: unknown;
  edited?: { readonly user: string; readonly ts: string };
}

/** The conversations of a workspace, with all that was said in them. */
export class SlackStore {
  readonly #messages = new Map<string, StoredMessage[]>();
  #last = 0;

  /** Slack's ids of messages are times, each later than the one before. */
  nextTs(): string {
    this.#last = Math.max(this.#last + 1, Date.now() * 1000);
    const digits = String(this.#last);
    return `${digits.slice(0, -6)}.${digits.slice(-6)}`;
  }

  open(channel: string): void {
    if (!this.#messages.has(channel)) this.#messages.set(channel, []);
  }

  has(channel: string): boolean {
    return this.#messages.has(channel);
  }

  get channels(): readonly string[] {
    return [...this.#messages.keys()];
  }

  add(channel: string, message: Omit<StoredMessage, "type" | "ts">, ts = this.nextTs()): StoredMessage {
    const parent = this.find(channel, message.thread_ts ?? "");
    const stored: StoredMessage = {
      type: "message",
      ts,
      ...message,
      ...(parent === undefined ? {} : { parent_user_id: parent.user }),
    };
    this.open(channel);
    this.#messages.get(channel)?.push(stored);
    return stored;
  }

  find(channel: string, ts: string): StoredMessage | undefined {
    return this.#messages.get(channel)?.find((one) => one.ts === ts);
  }

  remove(channel: string, ts: string): StoredMessage | undefined {
    const all = this.#messages.get(channel) ?? [];
    const at = all.findIndex((one) => one.ts === ts);
    return at === -1 ? undefined : all.splice(at, 1)[0];
  }

  /** As `conversations.history` gives it: newest first, without the answers in threads. */
  history(channel: string, oldest: string): readonly object[] {
    const all = this.#messages.get(channel) ?? [];
    return all
      .filter(
        ({ ts, thread_ts: root, subtype }) => ts > oldest && (root === undefined || subtype === "thread_broadcast"),
      )
      .map((one) => ({ ...one, ...this.#threadOf(channel, one.ts) }))
      .reverse();
  }

  /** As `conversations.replies` gives it: the first message, and then its answers, oldest first. */
  replies(channel: string, root: string, oldest: string): readonly object[] {
    const all = this.#messages.get(channel) ?? [];
    return all
      .filter(({ ts, thread_ts: of }) => ts === root || (of === root && ts > oldest))
      .map((one) => (one.ts === root ? { ...one, ...this.#threadOf(channel, root) } : one));
  }

  #threadOf(channel: string, ts: string): object {
    const replies = (this.#messages.get(channel) ?? []).filter(({ thread_ts: root }) => root === ts);
    const newest = replies.at(-1);
    return newest === undefined ? {} : { thread_ts: ts, reply_count: replies.length, latest_reply: newest.ts };
  }
}
