import type { Client, SearchHit } from "../../client/client.js";
import type { PaneEntry } from "../panes/list.js";
import type { Store } from "../store.js";

/** What the palette may use of the page around it. */
export interface PaletteWorld {
  readonly store: Store;
  readonly panes: readonly PaneEntry[];
  client(): Client | undefined;
  openChat(key: string): void;
  /** Opens a chat at one of its messages. */
  openHit(hit: SearchHit): void;
  openPane(id: string): void;
  newChat(): void;
  /** Of the open chat. */
  readonly chat: {
    stop(): void;
    rename(): void;
    download(format: "markdown" | "json"): void;
    focus(): void;
  };
  /** The rest of what one does on this device. Undefined where there is nothing to sign out of. */
  readonly device: {
    showDevices(): (() => void) | undefined;
    signOut(): (() => void) | undefined;
    changeLanguage(): void;
  };
}
