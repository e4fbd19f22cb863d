import type { Client, SearchHit } from "../../../client/client.js";
import type { Api } from "../../gateway/api.js";
import { ask } from "../../parts/dialogs.js";
import { saveBlob } from "../../parts/save-blob.js";
import type { Store } from "../../store.js";
import { SearchBox } from "./search-box.js";
import { parseSessionList, type SessionEntry, titleOf } from "./session-list.js";
import { SessionsPane } from "./sessions-pane.js";
import { chatsWords } from "./words.js";

interface ChatsOptions {
  readonly store: Store;
  /** The present connection, if there is one. */
  client(): Client | undefined;
  readonly api: Pick<Api, "response">;
  open(key: string): void;
  /** Opens a chat at one of its messages. */
  openHit(hit: SearchHit): void;
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
  readonly #search: SearchBox;
  #limit = step;
  #isArchived = false;
  #isDue = false;

  constructor(options: ChatsOptions) {
    this.#options = options;
    this.#search = new SearchBox({
      client: options.client,
      openHit: options.openHit,
      onToggle: (isSearching) => {
        this.#pane.isSearching = isSearching;
      },
    });
    const actions = {
      newChat: options.newChat,
      open: options.open,
      rename: (entry: SessionEntry) => void this.#rename(entry),
      remove: (entry: SessionEntry) => void this.#remove(entry),
      mark: (entry: SessionEntry, marks: Parameters<Client["setMarks"]>[1]) =>
        void this.#change(async (client) => void (await client.setMarks(entry.key, marks))),
      download: (entry: SessionEntry, format: "markdown" | "json") => void this.#download(entry, format),
      showArchived: (isArchived: boolean) => {
        this.#isArchived = isArchived;
        this.refresh();
      },
      showMore: () => {
        this.#limit = Math.min(this.#limit + step, maxLimit);
        this.refresh();
      },
    };
    this.#pane = new SessionsPane(actions, this.#search);
    options.store.watch(["chats", "current"], ({ chats: { entries, total }, current = "" }) => {
      const hasMore = total > entries.length && this.#limit < maxLimit;
      this.#pane.show({ entries, current, hasMore, isArchived: this.#isArchived });
    });
  }

  get element(): HTMLElement {
    return this.#pane.element;
  }

  /** Of a chat that is in the list. */
  rename(key: string): void {
    const entry = this.#entryOf(key);
    if (entry !== undefined) void this.#rename(entry);
  }

  /** Of a chat that is in the list. */
  download(key: string, format: "markdown" | "json"): void {
    const entry = this.#entryOf(key);
    if (entry !== undefined) void this.#download(entry, format);
  }

  #entryOf(key: string): SessionEntry | undefined {
    return this.#options.store.known.chats.entries.find((entry) => entry.key === key);
  }

  /** Shows none until the list is read again. */
  clear(): void {
    this.#options.store.put({ chats: { entries: [], total: 0 } });
  }

  /** The gateway is there again. */
  resume(): void {
    this.refresh();
    this.#search.resume();
  }

  refresh(): void {
    const reading = this.#options.client()?.command("session_list", {
      limit: this.#limit,
      offset: 0,
      archived: String(this.#isArchived),
    });
    reading?.then(
      (data) => {
        this.#pane.element.classList.remove("is-unknown");
        this.#options.store.put({ chats: parseSessionList(data) });
      },
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

  async #download({ key }: SessionEntry, format: "markdown" | "json"): Promise<void> {
    try {
      const path = `api/sessions/${encodeURIComponent(key)}/export?format=${format}`;
      const blob = await (await this.#options.api.response("GET", path, undefined, { timeoutMs: 120_000 })).blob();
      const name = `${key.replace(/[^\w-]+/g, "-")}.${format === "markdown" ? "md" : "json"}`;
      saveBlob(blob, name);
    } catch (error) {
      this.#options.onFailure(error);
    }
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
