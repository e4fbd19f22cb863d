import type { Client } from "../../../client/client.js";
import { ask } from "../../parts/dialogs.js";
import type { Store } from "../../store.js";
import { parseSessionList, type SessionEntry, titleOf } from "./session-list.js";
import { createSessionsPane, type SessionsPane } from "./sessions-pane.js";
import { chatsWords } from "./words.js";

interface ChatsOptions {
  readonly store: Store;
  /** The present connection, if there is one. */
  client(): Client | undefined;
  open(key: string): void;
  newChat(): void;
  onRemoved(key: string): void;
  onFailure(error: unknown): void;
}

const step = 200;
const maxLimit = 1000;
const pauseMs = 1000;

/** The list of chats: read from the gateway, shown in the pane, changed by rename and delete. */
export class Chats {
  readonly #options: ChatsOptions;
  readonly #pane: SessionsPane;
  #limit = step;
  #isDue = false;

  constructor(options: ChatsOptions) {
    this.#options = options;
    this.#pane = createSessionsPane({
      newChat: options.newChat,
      open: options.open,
      rename: (entry) => void this.#rename(entry),
      remove: (entry) => void this.#remove(entry),
      showMore: () => {
        this.#limit = Math.min(this.#limit + step, maxLimit);
        this.refresh();
      },
    });
    options.store.watch(["chats", "current"], ({ chats: { entries, total }, current = "" }) => {
      this.#pane.show(entries, current, total > entries.length && this.#limit < maxLimit);
    });
  }

  get element(): HTMLElement {
    return this.#pane.element;
  }

  /** Shows none until the list is read again. */
  clear(): void {
    this.#options.store.put({ chats: { entries: [], total: 0 } });
  }

  refresh(): void {
    const reading = this.#options.client()?.command("session_list", { limit: this.#limit, offset: 0 });
    reading?.then(
      (data) => this.#options.store.put({ chats: parseSessionList(data) }),
      // The next connection or event reads it again.
      () => undefined,
    );
  }

  /** At most once a second, however much happens in all the chats. */
  refreshSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setTimeout(() => {
      this.#isDue = false;
      this.refresh();
    }, pauseMs);
  }

  async #rename(entry: SessionEntry): Promise<void> {
    const field = { label: chatsWords.t("title"), value: titleOf(entry), maxLength: 200 };
    const title = await ask({ title: chatsWords.t("renameChat"), field, action: chatsWords.t("rename") });
    if (title === undefined) return;
    await this.#change((client) => client.setTitle(entry.key, title));
  }

  async #remove(entry: SessionEntry): Promise<void> {
    const answer = await ask({
      title: chatsWords.t("deleteChat"),
      text: chatsWords.t("deleteText", { title: titleOf(entry) }),
      action: chatsWords.t("delete"),
      isDangerous: true,
    });
    if (answer === undefined) return;
    if (await this.#change((client) => client.deleteSession(entry.key))) this.#options.onRemoved(entry.key);
  }

  async #change(work: (client: Client) => Promise<void>): Promise<boolean> {
    const client = this.#options.client();
    try {
      if (client !== undefined) await work(client);
      this.refresh();
      return true;
    } catch (error) {
      this.#options.onFailure(error);
      return false;
    }
  }
}
