import type { LoadFile } from "../files/file-view.js";
import { h, icon, setChildren, setText } from "../parts/dom.js";
import { type Item, isWorking, type PendingMessage, type ViewState } from "../session/view-state.js";
import type { ItemView } from "./item-view.js";
import { createItemView, pendingView } from "./item-views.js";

interface TranscriptActions {
  readonly loadFile: LoadFile;
  retry(message: PendingMessage): void;
  drop(message: PendingMessage): void;
  /** The reader is at the top of what is loaded. Called again and again until `show` brings more. */
  loadOlder(): void;
}

export interface Transcript {
  readonly element: HTMLElement;
  show(view: ViewState, more: { readonly hasOlder: boolean; readonly isLoading: boolean }): void;
  /** Goes to the newest message and stays there. */
  stick(): void;
  /** Forgets everything, for another session. */
  clear(): void;
}

/** So many items are put into the page at once; more when the reader scrolls up to them. */
const windowStep = 80;
const nearTopPx = 400;

const stateWords: Readonly<Record<string, string>> = {
  thinking: "Thinking",
  responding: "Writing",
  planning_tool: "Preparing a tool",
  awaiting_tool_result: "Using a tool",
  awaiting_human: "Waiting for your answer",
};

export function createTranscript(actions: TranscriptActions): Transcript {
  const older = h("div", { class: "older" }, "Loading earlier messages …");
  const list = h("div", { class: "items" });
  const workingText = h("span");
  const dots = h("span", { class: "dots", "aria-hidden": "true" }, h("i"), h("i"), h("i"));
  const working = h("div", { class: "working", role: "status" }, dots, workingText);
  const column = h("div", { class: "column" }, older, list, working);
  const scroller = h(
    "div",
    { class: "scroller", role: "log", "aria-label": "Conversation", "aria-live": "off", tabindex: "0" },
    column,
  );
  const jump = h("button", { type: "button", class: "jump", "aria-label": "Go to the newest message" }, icon("down"));
  const element = h("div", { class: "transcript" }, scroller, jump);
  jump.addEventListener("click", stick);

  const views = new Map<string, { readonly view: ItemView<Item>; item: Item }>();
  const pendingViews = new Map<string, ItemView<PendingMessage>>();
  let windowSize = windowStep;
  let shown: { readonly view: ViewState; readonly hasOlder: boolean; readonly isLoading: boolean } | undefined;
  let isStuck = true;
  let lastTop = 0;

  function distance(): number {
    return scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
  }

  function onScroll(): void {
    const isUpwards = scroller.scrollTop < lastTop;
    lastTop = scroller.scrollTop;
    isStuck = distance() < 2 || (!isUpwards && (isStuck || distance() < 30));
    jump.classList.toggle("shown", !isStuck);
    if (scroller.scrollTop < nearTopPx) growUpwards();
  }

  function onFold(): void {
    isStuck &&= distance() < 30;
    jump.classList.toggle("shown", !isStuck);
  }

  function growUpwards(): void {
    if (shown === undefined || isStuck) return;
    if (shown.view.items.length > windowSize) {
      windowSize += windowStep;
      draw(true);
    } else if (shown.hasOlder && !shown.isLoading) {
      actions.loadOlder();
    }
  }

  function draw(keepsPlace: boolean): void {
    if (shown === undefined) return;
    const { view, hasOlder, isLoading } = shown;
    const fromBottom = scroller.scrollHeight - scroller.scrollTop;
    const visible = view.items.slice(-windowSize);
    const elements = [...visible.map(elementOf), ...view.pending.map(elementOfPending)];
    forget(views, new Set(visible.map(({ key }) => key)));
    forget(pendingViews, new Set(view.pending.map(({ messageId }) => messageId)));
    setChildren(list, elements);
    older.hidden = !hasOlder && !isLoading && visible.length === view.items.length;
    working.hidden = !isWorking(view);
    setText(workingText, working.hidden ? "" : (stateWords[view.agentState] ?? "Working"));
    if (isStuck) scroller.scrollTop = scroller.scrollHeight;
    else if (keepsPlace) scroller.scrollTop = scroller.scrollHeight - fromBottom;
    lastTop = scroller.scrollTop;
  }

  function elementOf(item: Item): Element {
    const known = views.get(item.key);
    if (known === undefined) {
      const view = createItemView(item, actions.loadFile);
      views.set(item.key, { view, item });
      return view.element;
    }
    if (known.item !== item) {
      known.item = item;
      known.view.update(item);
    }
    return known.view.element;
  }

  function elementOfPending(message: PendingMessage): Element {
    const view = pendingViews.get(message.messageId) ?? pendingView(actions);
    pendingViews.set(message.messageId, view);
    view.update(message);
    return view.element;
  }

  function stick(): void {
    isStuck = true;
    windowSize = windowStep;
    jump.classList.remove("shown");
    draw(false);
  }

  scroller.addEventListener("scroll", onScroll, { passive: true });
  // A narrower window or the phone's keyboard must not hide the newest line from who reads it.
  new ResizeObserver(() => {
    if (isStuck) scroller.scrollTop = scroller.scrollHeight;
  }).observe(scroller);
  // Who opens a fold wants to read it: what comes below it must not push it away. The event does not bubble.
  list.addEventListener("toggle", onFold, { capture: true });

  return {
    element,
    show(view, more) {
      const old = shown?.view.items;
      // Items were added above when the first one is another but the last ones are the same.
      const grewUpwards = old !== undefined && old[0]?.key !== view.items[0]?.key && old.length < view.items.length;
      shown = { view, ...more };
      // While somebody reads further up, what arrives below must not push the top of the window away.
      if (!isStuck && old !== undefined && !grewUpwards) windowSize += Math.max(0, view.items.length - old.length);
      draw(grewUpwards);
      if (grewUpwards) growUpwards();
    },
    stick,
    clear() {
      views.clear();
      pendingViews.clear();
      windowSize = windowStep;
      isStuck = true;
      shown = undefined;
      jump.classList.remove("shown");
      list.replaceChildren();
      working.hidden = true;
      older.hidden = true;
    },
  };
}

function forget(views: Map<string, unknown>, keep: ReadonlySet<string>): void {
  for (const key of views.keys()) if (!keep.has(key)) views.delete(key);
}
