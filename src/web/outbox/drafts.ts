import type { OutboxStore, OutgoingFile, StoredDraft } from "./outbox-store.js";

/** So long after a keystroke the draft is written. A page that is left writes it at once. */
const pauseMs = 200;

/** What is written in each chat and not sent, kept over a reload and a crash of the tab. */
export class Drafts {
  readonly #store: OutboxStore;
  readonly #drafts = new Map<string, StoredDraft>();
  readonly #unwritten = new Set<string>();
  /** Other tabs of this browser. */
  readonly #others = new BroadcastChannel("maxclaw drafts");
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `onSent`: another tab has sent just this text. */
  constructor(store: OutboxStore, onSent: (sessionKey: string, text: string) => void) {
    this.#store = store;
    this.#others.addEventListener("message", ({ data }: MessageEvent<Pick<StoredDraft, "sessionKey" | "text">>) => {
      if (this.#drafts.get(data.sessionKey)?.text === data.text) this.#drafts.delete(data.sessionKey);
      onSent(data.sessionKey, data.text);
    });
    document.addEventListener("visibilitychange", () => this.#write());
    window.addEventListener("pagehide", () => this.#write());
  }

  async load(): Promise<void> {
    for (const draft of await this.#store.drafts()) {
      const begun = this.#drafts.get(draft.sessionKey);
      if (begun === undefined) this.#drafts.set(draft.sessionKey, draft);
      else if (!begun.text.startsWith(draft.text)) {
        // Who writes at once after a reload finds both.
        this.put(draft.sessionKey, `${draft.text}\n${begun.text}`, [...draft.files, ...begun.files]);
      }
    }
  }

  get isEmpty(): boolean {
    return this.#drafts.size === 0;
  }

  get(sessionKey: string): StoredDraft | undefined {
    return this.#drafts.get(sessionKey);
  }

  /** An empty one is removed. */
  put(sessionKey: string, text: string, files: readonly OutgoingFile[]): void {
    const before = this.#drafts.get(sessionKey);
    if ((before?.text ?? "") === text && isSame(before?.files ?? [], files)) return;
    if (text === "" && files.length === 0) this.#drafts.delete(sessionKey);
    else this.#drafts.set(sessionKey, { sessionKey, text, files });
    this.#unwritten.add(sessionKey);
    this.#timer ??= setTimeout(() => this.#write(), pauseMs);
  }

  /** It became a message, and the outbox has taken it out of the store with that. */
  sent(sessionKey: string, text: string): void {
    this.#drafts.delete(sessionKey);
    this.#unwritten.delete(sessionKey);
    this.#others.postMessage({ sessionKey, text });
  }

  forget(sessionKey: string): void {
    this.put(sessionKey, "", []);
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const key of this.#unwritten) {
      const draft = this.#drafts.get(key);
      // A browser that keeps nothing still has it in this tab.
      (draft === undefined ? this.#store.removeDraft(key) : this.#store.putDraft(draft)).catch(() => undefined);
    }
    this.#unwritten.clear();
  }
}

function isSame(before: readonly OutgoingFile[], files: readonly OutgoingFile[]): boolean {
  return (
    before.length === files.length &&
    files.every(({ content, uploaded }, index) => {
      const other = before[index];
      return other?.content === content && other.uploaded?.path === uploaded?.path;
    })
  );
}
