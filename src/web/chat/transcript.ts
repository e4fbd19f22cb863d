import type { OutgoingMessage } from "../outbox/outbox-store.js";
import { timelineHash } from "../panes/timeline/place.js";
import { h, setChildren } from "../parts/dom.js";
import type { Item, SessionState, UserItem } from "../session/view-state.js";
import { lastEditable, questionOfAnswer } from "./actions/message-actions.js";
import { createItemView, pendingView } from "./item-views.js";
import { KeyedViews } from "./keyed-views.js";
import { type MessageWorld, UserView } from "./message-views.js";
import { ownPictureOf } from "./own-files.js";
import { DayLines } from "./reading/day-lines.js";
import { ItemWindow } from "./reading/item-window.js";
import { NewMessages } from "./reading/new-messages.js";
import { ReadingPosition } from "./reading/reading-position.js";
import { chatWords } from "./words.js";
import { WorkingLine } from "./working-line.js";

interface TranscriptActions
  extends Pick<MessageWorld, "loadFile" | "replace" | "branch" | "showEarlier" | "retryTurn"> {
  retry(messageId: string): void;
  drop(messageId: string): void;
  /** False: what is not sent waits for the gateway. */
  isOnline(): boolean;
  /** The reader is at the top of what is loaded. Called again and again until `show` brings more. */
  loadOlder(): void;
  onFailure(error: unknown): void;
}

/** The conversation: those items that are near the reader, older and newer ones as the reader scrolls to them. */
export class Transcript {
  readonly element: HTMLElement;
  readonly #actions: TranscriptActions;
  readonly #older = h("div", { class: "older" }, chatWords.t("loadingOlder"));
  readonly #list = h("div", { class: "items" });
  readonly #working = new WorkingLine();
  readonly #position: ReadingPosition;
  readonly #views: KeyedViews<Item>;
  readonly #pendingViews: KeyedViews<OutgoingMessage>;
  readonly #days = new DayLines();
  readonly #window = new ItemWindow();
  readonly #new = new NewMessages();
  #shown: SessionState | undefined;

  constructor(actions: TranscriptActions) {
    this.#actions = actions;
    const world = this.#world();
    this.#views = new KeyedViews(
      ({ key }) => key,
      (item) => createItemView(item, world),
    );
    this.#pendingViews = new KeyedViews(
      ({ messageId }) => messageId,
      () => pendingView(actions),
    );
    const column = h("div", { class: "column" }, this.#older, this.#list, this.#working.element);
    this.#position = new ReadingPosition(column, this.#list, {
      onNearTop: () => this.#growUpwards(),
      onNearBottom: () => this.#growDownwards(),
      hasBelow: () => this.#window.hasBelow,
      onEnd: () => this.#countNew(),
    });
    const { scroller, jump } = this.#position;
    this.element = h("div", { class: "transcript" }, scroller, jump);
    jump.addEventListener("click", () => {
      this.stick();
      // The button goes.
      scroller.focus({ preventScroll: true });
    });
    this.clear();
  }

  show(state: SessionState): void {
    const first = this.#shown?.view.items[0]?.key;
    const { items } = state.view;
    const above =
      first === undefined
        ? 0
        : Math.max(
            0,
            items.findIndex(({ key }) => key === first),
          );
    this.#shown = state;
    this.#window.resize(items.length, above, this.#position.isAtEnd);
    // In one step: a line that goes from the top must not leave the reader without room above.
    if (above > 0 && this.#position.isNearTop) this.#window.growUp();
    this.#draw();
    this.#countNew();
    if (above > 0) this.#position.look();
  }

  /** Draws again what waits, when the connection comes or goes. */
  refresh(): void {
    this.#pendingViews.expire();
    this.#draw();
  }

  /** Brings an item into sight and points at it; false while it is not loaded. */
  reveal(isWanted: (item: Item) => boolean): boolean {
    const items = this.#shown?.view.items ?? [];
    const at = items.findIndex(isWanted);
    const item = items[at];
    if (item === undefined) return false;
    const element = this.#bring(at, item);
    element?.classList.add("found");
    setTimeout(() => element?.classList.remove("found"), 2500);
    return true;
  }

  /** Opens the last message of the reader's for writing; false where there is none that can be replaced. */
  editLast(): boolean {
    const items = this.#shown?.view.items ?? [];
    const item = lastEditable(items);
    if (item === undefined) return false;
    this.#bring(items.indexOf(item), item);
    const view = this.#views.viewOf(item);
    if (!(view instanceof UserView)) return false;
    view.edit();
    return true;
  }

  /** Goes to the newest message and stays there. */
  stick(): void {
    this.#position.stick();
    this.#window.toEnd();
    this.#draw();
  }

  /** Forgets everything, for another session. */
  clear(): void {
    this.#views.clear();
    this.#pendingViews.clear();
    this.#days.clear();
    this.#window.clear();
    this.#shown = undefined;
    this.#position.stick();
    this.#list.replaceChildren();
    this.#working.show(undefined);
    this.#older.hidden = true;
  }

  #world(): MessageWorld {
    const { loadFile, replace, branch, showEarlier, retryTurn, onFailure } = this.#actions;
    const items = (): readonly Item[] => this.#shown?.view.items ?? [];
    const again = (asked: UserItem): void => void replace(asked, asked.text).catch(onFailure);
    return {
      loadFile,
      replace,
      branch,
      showEarlier,
      retryTurn,
      openDetails: (button, item) => {
        import("./actions/details.js").then(({ openDetails }) => openDetails(button, item)).catch(onFailure);
      },
      openTimeline: (turnId) => {
        location.hash = timelineHash(this.#shown?.view.sessionKey ?? "", turnId);
      },
      answerAgain: (answer) => {
        const asked = questionOfAnswer(items(), answer);
        return asked && (() => again(asked));
      },
      pictureOf: (path) => ownPictureOf(items(), path, loadFile),
    };
  }

  #bring(at: number, item: Item): Element | undefined {
    this.#position.leave();
    if (at < this.#window.start || at >= this.#window.end) this.#window.around(at);
    this.#draw();
    const element = this.#views.viewOf(item)?.element;
    element?.scrollIntoView({ block: "center" });
    return element;
  }

  #growUpwards(): void {
    if (this.#shown === undefined || this.#position.isAtEnd) return;
    const { hasOlder, isLoading } = this.#shown;
    if (this.#window.hasAbove) {
      this.#window.growUp();
      this.#draw();
    } else if (hasOlder && !isLoading) {
      this.#actions.loadOlder();
    }
  }

  #growDownwards(): void {
    if (this.#shown === undefined || !this.#window.hasBelow) return;
    this.#window.growDown();
    this.#draw();
  }

  #countNew(): void {
    this.#position.showNew(this.#new.count(this.#shown?.view.items ?? [], this.#position.isAtEnd));
  }

  #draw(): void {
    if (this.#shown === undefined) return;
    const { view, hasOlder, isLoading, pending } = this.#shown;
    const { start, end, hasAbove, hasBelow } = this.#window;
    this.#position.around(() => {
      const said = this.#days.between(view.items, start, end, (items) => this.#views.elementsOf(items));
      setChildren(this.#list, [...said, ...(hasBelow ? [] : this.#pendingViews.elementsOf(pending))]);
      this.#older.hidden = hasAbove || (!hasOlder && !isLoading);
      this.#working.show(hasBelow ? undefined : view, this.#actions.isOnline());
    });
  }
}
