import type { Api } from "../gateway/api.js";
import type { Question } from "../parts/dialogs.js";
import type { Store } from "../store.js";

/** What a pane may use of the page around it. */
export interface PaneWorld {
  readonly api: Api;
  readonly store: Store;
  /** Reads what waits for a person again. Never rejects. */
  refreshInbox(): Promise<void>;
  openChat(key: string): void;
  /** Opens a new chat and sends this there. */
  startChat(text: string): void;
  /** Gives the gateway a file. Resolves with where it is on the gateway's machine. */
  upload(content: Blob, name: string): Promise<{ readonly path: string }>;
  openPane(id: string, argument?: string): void;
  /** Resolves with the text (empty where none was asked for), or with `undefined` when the reader cancels. */
  ask(question: Question): Promise<string | undefined>;
  readonly unsaved: Unsaved;
  /** For after a change of who answers or where people write: the rest of the page shows it. */
  refreshStatus(): void;
  /** Read out by screen readers; not visible. */
  announce(text: string): void;
  /** For what went wrong with nobody's button to show it at. A missing token asks for it. */
  failed(error: unknown): void;
}

/** Text that is not saved. */
export interface Unsaved {
  /** The reader is asked before it goes. The result lets it go. */
  hold(): () => void;
  /** Calls `then` once nothing is unsaved, or the reader says that it may go. */
  letGo(then: () => void): void;
}
