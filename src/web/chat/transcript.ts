import type { LoadFile } from "../files/file-view.js";
import type { OutgoingMessage } from "../outbox/outbox-store.js";
import { h, setChildren } from "../parts/dom.js";
import type { Item, SessionState } from "../session/view-state.js";
import { createItemView, pendingView } from "./item-views.js";
import { KeyedViews } from "./keyed-views.js";
import { ReadingPosition } from "./reading-position.js";
import type { RetryTurn } from "./retry-line.js";
import { chatWords } from "./words.js";
import { WorkingLine } from "./working-line.js";

interface TranscriptActions {
  readonly loadFile: LoadFile;
  readonly retryTurn: RetryTurn;
  retry(messageId: string): void;
  drop(messageId: string): void;
  /** False: what is not sent waits for the gateway. */
  isOnline(): boolean;
  /** The reader is at the top of what is loaded. Called again and again until `show` brings more. */
  loadOlder(): void;
}

/** So many items are put into the page at once; more when the reader scrolls up to them. */
const windowStep = 80;

/** The conversation: the newest items, and older ones as the reader scrolls up to them. */
export class Transcript {
  readonly element: HTMLElement;
  readonly #actions: TranscriptActions;
  readonly #older = h("div", { class: "older" }, chatWords.t("loadingOlder"));
  readonly #list = h("div", { class: "items" });
  readonly #working = new WorkingLine();
  readonly #position: ReadingPosition;
  readonly #views: KeyedViews<Item>;
  readonly #pendingViews: KeyedViews<OutgoingMessage>;
  #windowSize = windowStep;
  #shown: SessionState | undefined;

  constructor(actions: TranscriptActions) {
    this.#actions = actions;
    this.#views = new KeyedViews(
      ({ key }) => key,
      (item) => createItemView(item, actions.loadFile, actions.retryTurn),
    );
    this.#pendingViews = new KeyedViews(
      ({ messageId }) => messageId,
      () => pendingView(actions),
    );
    const column = h("div", { class: "column" }, this.#older, this.#list, this.#working.element);
    this.#position = new ReadingPosition(column, () => this.#growUpwards());
    const { scroller, jump } = this.#position;
    this.element = h("div", { class: "transcript" }, scroller, jump);
    jump.addEventListener("click", () => this.stick());
    this.clear();
  }

  show(state: SessionState): void {
    const old = this.#shown?.view.items;
    const { items } = state.view;
    // Items were added above when the first one is another but the last ones are the same.
    const grewAbove = old !== undefined && old[0]?.key !== items[0]?.key && old.length < items.length;
    this.#shown = state;
    // While somebody reads further up, what arrives below must not push the top of the window away.
    if (!this.#position.isAtEnd && old !== undefined && !grewAbove)
      this.#windowSize += Math.max(0, items.length - old.length);
    this.#draw(grewAbove);
    if (grewAbove) this.#growUpwards();
  }

  /** Draws again what waits, when the connection comes or goes. */
  refresh(): void {
    this.#draw(false);
  }

  /** Brings an item into sight and points at it; false while it is not loaded. */
  reveal(isWanted: (item: Item) => boolean): boolean {
    const items = this.#shown?.view.items ?? [];
    const at = items.findIndex(isWanted);
    const item = items[at];
    if (item === undefined) return false;
    this.#windowSize = Math.max(this.#windowSize, items.length - at + windowStep / 2);
    this.#position.leave();
    this.#draw(false);
    const [element] = this.#views.elementsOf([item]);
    element?.scrollIntoView({ block: "center" });
    element?.classList.add("found");
    setTimeout(() => element?.classList.remove("found"), 2500);
    return true;
  }

  /** Goes to the newest message and stays there. */
  stick(): void {
    this.#position.stick();
    this.#windowSize = windowStep;
    this.#draw(false);
  }

  /** Forgets everything, for another session. */
  clear(): void {
    this.#views.clear();
    this.#pendingViews.clear();
    this.#windowSize = windowStep;
    this.#shown = undefined;
    this.#position.stick();
    this.#list.replaceChildren();
    this.#working.show(undefined);
    this.#older.hidden = true;
  }

  #growUpwards(): void {
    if (this.#shown === undefined || this.#position.isAtEnd) return;
    const { view, hasOlder, isLoading } = this.#shown;
    if (view.items.length > this.#windowSize) {
      this.#windowSize += windowStep;
      this.#draw(true);
    } else if (hasOlder && !isLoading) {
      this.#actions.loadOlder();
    }
  }

  #draw(grewAbove: boolean): void {
    if (this.#shown === undefined) return;
    const { view, hasOlder, isLoading, pending } = this.#shown;
    this.#position.around(() => {
      const visible = view.items.slice(-this.#windowSize);
      setChildren(this.#list, [...this.#views.elementsOf(visible), ...this.#pendingViews.elementsOf(pending)]);
      this.#older.hidden = !hasOlder && !isLoading && visible.length === view.items.length;
      this.#working.show(view);
    }, grewAbove);
  }
}
