import type { DBSchema, IDBPDatabase } from "idb";
import type { OutboxStore, OutgoingMessage, StoredDraft } from "./outbox-store.js";

interface Schema extends DBSchema {
  readonly messages: { readonly key: string; readonly value: OutgoingMessage };
  readonly drafts: { readonly key: string; readonly value: StoredDraft };
}

/**
 * The browser's own database, one for each address that a gateway has.
 *
 * @throws where the browser keeps nothing: some do so in private windows
 */
export async function openOutboxStore(): Promise<OutboxStore> {
  const { openDB } = await import("idb");
  const database = await openDB<Schema>(`maxclaw ${new URL(".", document.baseURI).pathname}`, 1, {
    upgrade(fresh) {
      fresh.createObjectStore("messages", { keyPath: "messageId" });
      fresh.createObjectStore("drafts", { keyPath: "sessionKey" });
    },
    // A later version of the page wants it: its own reload brings it there.
    blocking: (_from, _to, event) => {
      if (event.target instanceof IDBDatabase) event.target.close();
    },
  });
  return new DatabaseStore(database);
}

/** Written as soon as the disk has it: a message is shown as kept after that. */
const strict = { durability: "strict" } as const;

class DatabaseStore implements OutboxStore {
  readonly #database: IDBPDatabase<Schema>;
  #isLeft = false;

  constructor(database: IDBPDatabase<Schema>) {
    this.#database = database;
  }

  async messages(): Promise<readonly OutgoingMessage[]> {
    return (await this.#database.getAll("messages")).sort((a, b) => a.order - b.order);
  }

  drafts(): Promise<readonly StoredDraft[]> {
    return this.#database.getAll("drafts");
  }

  async putDraft(draft: StoredDraft): Promise<void> {
    if (this.#isLeft) return;
    await this.#database.put("drafts", draft);
  }

  async removeDraft(sessionKey: string): Promise<void> {
    await this.#database.delete("drafts", sessionKey);
  }

  async send(message: OutgoingMessage): Promise<void> {
    if (this.#isLeft) return;
    const transaction = this.#database.transaction(["messages", "drafts"], "readwrite", strict);
    await Promise.all([
      transaction.objectStore("messages").put(message),
      transaction.objectStore("drafts").delete(message.sessionKey),
      transaction.done,
    ]);
  }

  async putMessage(message: OutgoingMessage): Promise<void> {
    if (this.#isLeft) return;
    await this.#database.put("messages", message);
  }

  async removeMessage(messageId: string): Promise<void> {
    await this.#database.delete("messages", messageId);
  }

  leave(): Promise<void> {
    this.#isLeft = true;
    return this.clear();
  }

  async clear(): Promise<void> {
    await Promise.all([this.#database.clear("messages"), this.#database.clear("drafts")]);
  }
}
