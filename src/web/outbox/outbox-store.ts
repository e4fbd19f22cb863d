import type { UploadedFile } from "../../client/upload.js";

/** How a message treats the answer that is being worked on: replace it, or join it. Absent: it waits its turn. */
export type SendMode = "cancel" | "append" | undefined;

/** A file that goes with a message. */
export interface OutgoingFile {
  readonly name: string;
  readonly content: Blob;
  /** Where the gateway has it; absent until it is brought there. */
  readonly uploaded: UploadedFile | undefined;
}

/** A message of the reader that the gateway has not confirmed yet. */
export interface OutgoingMessage {
  readonly messageId: string;
  readonly sessionKey: string;
  readonly text: string;
  readonly files: readonly OutgoingFile[];
  readonly mode: SendMode;
  /** The event of the message that it takes the place of. */
  readonly replaces?: number | undefined;
  /** Absent in what an older page has kept. */
  readonly alsoToChat?: boolean;
  /** ISO 8601. */
  readonly at: string;
  /** Grows with each message of this browser. */
  readonly order: number;
  /** Why it could not be sent; absent while it is on its way. */
  readonly error: string | undefined;
}

/** What is written in a chat and not sent. */
export interface StoredDraft {
  readonly sessionKey: string;
  readonly text: string;
  readonly files: readonly OutgoingFile[];
}

/** Keeps what the gateway does not have yet, over a reload and a crash of the tab. */
export interface OutboxStore {
  /** The oldest first. */
  messages(): Promise<readonly OutgoingMessage[]>;
  drafts(): Promise<readonly StoredDraft[]>;
  putDraft(draft: StoredDraft): Promise<void>;
  removeDraft(sessionKey: string): Promise<void>;
  /** A draft becomes a message, in one step. */
  send(message: OutgoingMessage): Promise<void>;
  putMessage(message: OutgoingMessage): Promise<void>;
  removeMessage(messageId: string): Promise<void>;
  clear(): Promise<void>;
  /** Clears, and keeps nothing more: the page is to be loaded again. */
  leave(): Promise<void>;
}

/** For as long as the tab lives. */
export class MemoryOutboxStore implements OutboxStore {
  readonly #messages = new Map<string, OutgoingMessage>();
  readonly #drafts = new Map<string, StoredDraft>();

  get isEmpty(): boolean {
    return this.#messages.size === 0 && this.#drafts.size === 0;
  }

  async messages(): Promise<readonly OutgoingMessage[]> {
    return [...this.#messages.values()].sort((a, b) => a.order - b.order);
  }

  async drafts(): Promise<readonly StoredDraft[]> {
    return [...this.#drafts.values()];
  }

  async putDraft(draft: StoredDraft): Promise<void> {
    this.#drafts.set(draft.sessionKey, draft);
  }

  async removeDraft(sessionKey: string): Promise<void> {
    this.#drafts.delete(sessionKey);
  }

  async send(message: OutgoingMessage): Promise<void> {
    await this.putMessage(message);
    this.#drafts.delete(message.sessionKey);
  }

  async putMessage(message: OutgoingMessage): Promise<void> {
    this.#messages.set(message.messageId, message);
  }

  async removeMessage(messageId: string): Promise<void> {
    this.#messages.delete(messageId);
  }

  async clear(): Promise<void> {
    this.#messages.clear();
    this.#drafts.clear();
  }

  /** Whatever comes still goes with the tab. */
  leave(): Promise<void> {
    return this.clear();
  }
}
