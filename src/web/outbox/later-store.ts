import type { OutboxStore, OutgoingMessage, StoredDraft } from "./outbox-store.js";

/** A store that is being opened: the page is drawn meanwhile, and what is asked of the store waits for it, in order. */
export class LaterOutboxStore implements OutboxStore {
  readonly #opened: Promise<OutboxStore>;

  constructor(opened: Promise<OutboxStore>) {
    this.#opened = opened;
  }

  async messages(): Promise<readonly OutgoingMessage[]> {
    return await (await this.#opened).messages();
  }

  async drafts(): Promise<readonly StoredDraft[]> {
    return await (await this.#opened).drafts();
  }

  async putDraft(draft: StoredDraft): Promise<void> {
    await (await this.#opened).putDraft(draft);
  }

  async removeDraft(sessionKey: string): Promise<void> {
    await (await this.#opened).removeDraft(sessionKey);
  }

  async send(message: OutgoingMessage): Promise<void> {
    await (await this.#opened).send(message);
  }

  async putMessage(message: OutgoingMessage): Promise<void> {
    await (await this.#opened).putMessage(message);
  }

  async removeMessage(messageId: string): Promise<void> {
    await (await this.#opened).removeMessage(messageId);
  }

  async clear(): Promise<void> {
    await (await this.#opened).clear();
  }

  async leave(): Promise<void> {
    await (await this.#opened).leave();
  }
}
