import type { PaneEntry } from "../panes/list.js";
import type { Rail, SettingsList } from "./rail.js";

interface SideListsParts {
  readonly rail: Rail;
  readonly chats: HTMLElement;
  readonly settings: SettingsList;
  openPane(id: string): void;
}

/** What is beside the rail: the chats, or the settings. */
export class SideLists {
  readonly #parts: SideListsParts;
  readonly #firstSetting: string;
  readonly #narrow = matchMedia("(max-width: 760px)");
  #pane: PaneEntry | undefined;

  constructor(panes: readonly PaneEntry[], parts: SideListsParts) {
    this.#parts = parts;
    this.#firstSetting = panes.find(({ area }) => area === "settings")?.id ?? "";
  }

  get elements(): readonly HTMLElement[] {
    const { rail, chats, settings } = this.#parts;
    return [rail.element, chats, settings.element];
  }

  /** Those of the place that is shown. `pane`: undefined where that is a chat. */
  show(pane: PaneEntry | undefined): void {
    this.#pane = pane;
    this.#parts.rail.show(pane);
    this.#parts.settings.show(pane?.id ?? "");
    this.reset();
  }

  /** Who only looked at the settings finds the chats again. */
  reset(): void {
    this.#showSettings(this.#pane?.area === "settings");
  }

  /** Where the list is in a drawer the reader chooses from it; else the first of them is opened beside it. */
  openSettings(): void {
    if (!this.#narrow.matches) {
      this.#parts.openPane(this.#firstSetting);
      return;
    }
    this.#showSettings(true);
    const items = this.#parts.settings.element;
    items.querySelector<HTMLElement>("[aria-current], .side-item")?.focus();
  }

  #showSettings(isShown: boolean): void {
    this.#parts.chats.hidden = isShown;
    this.#parts.settings.element.hidden = !isShown;
  }
}
