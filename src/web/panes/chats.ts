import type { Client } from "../../client/client.js";
import { ask } from "../parts/dialogs.js";
import { parseSessionList, type SessionEntry, type SessionListView } from "./session-list.js";
import { createSessionsPane, titleOf } from "./sessions-pane.js";

interface ChatsOptions {
  /** The present connection, if there is one. */
  client(): Client | undefined;
  open(key: string): void;
  newChat(): void;
  onRemoved(key: string): void;
  /** The list was read again. */
  onChange(): void;
  onFailure(error: unknown): void;
}

/** The list of chats: read from the gateway, shown in the pane, changed by rename and delete. */
export interface Chats {
  readonly element: HTMLElement;
  /** Marks the chat that is open. */
  showCurrent(key: string): void;
  titleOf(key: string): string | undefined;
  /** Shows none until the list is read again. */
  clear(): void;
  refresh(): void;
  /** At most once a second, however much happens in all the chats. */
  refreshSoon(): void;
}

const step = 200;
const maxLimit = 1000;
const pauseMs = 1000;

export function createChats(options: ChatsOptions): Chats {
  let list: SessionListView = { entries: [], total: 0 };
  let limit = step;
  let isDue = false;
  let current = "";
  const pane = createSessionsPane({
    newChat: options.newChat,
    open: options.open,
    rename: (entry) => void rename(entry),
    remove: (entry) => void remove(entry),
    showMore() {
      limit = Math.min(limit + step, maxLimit);
      refresh();
    },
  });

  function draw(): void {
    pane.show(list.entries, current, list.total > list.entries.length && limit < maxLimit);
  }

  function refresh(): void {
    const reading = options.client()?.command("session_list", { limit, offset: 0 });
    reading?.then(
      (data) => {
        list = parseSessionList(data);
        draw();
        options.onChange();
      },
      // The next connection or event reads it again.
      () => undefined,
    );
  }

  async function rename(entry: SessionEntry): Promise<void> {
    const field = { label: "Title", value: titleOf(entry), maxLength: 200 };
    const title = await ask({ title: "Rename chat", field, action: "Rename" });
    if (title === undefined) return;
    await change((client) => client.setTitle(entry.key, title));
  }

  async function remove(entry: SessionEntry): Promise<void> {
    const answer = await ask({
      title: "Delete this chat?",
      text: `“${titleOf(entry)}” and all its messages and scheduled jobs will be gone.`,
      action: "Delete",
      isDangerous: true,
    });
    if (answer === undefined) return;
    if (await change((client) => client.deleteSession(entry.key))) options.onRemoved(entry.key);
  }

  async function change(work: (client: Client) => Promise<void>): Promise<boolean> {
    const client = options.client();
    try {
      if (client !== undefined) await work(client);
      refresh();
      return true;
    } catch (error) {
      options.onFailure(error);
      return false;
    }
  }

  return {
    element: pane.element,
    showCurrent(key) {
      current = key;
      draw();
    },
    titleOf(key) {
      const entry = list.entries.find((candidate) => candidate.key === key);
      return entry === undefined ? undefined : titleOf(entry);
    },
    clear() {
      list = { entries: [], total: 0 };
      draw();
    },
    refresh,
    refreshSoon() {
      if (isDue) return;
      isDue = true;
      setTimeout(() => {
        isDue = false;
        refresh();
      }, pauseMs);
    },
  };
}
