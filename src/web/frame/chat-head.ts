import { ContextMeter } from "../chat/context/context-meter.js";
import type { Api } from "../gateway/api.js";
import { timelineTitle } from "../panes/timeline/title/words.js";
import { h, icon } from "../parts/dom.js";
import type { Store } from "../store.js";

/** What is beside the title of the open chat: how full its context is, and the way to what happened in it. */
export function createChatHead(store: Store, api: Api, openTimeline: (key: string) => void): HTMLElement {
  const label = timelineTitle.t("open");
  const button = h(
    "button",
    { type: "button", class: "icon-button is-absent", "aria-label": label, title: label },
    icon("timeline"),
  );
  button.addEventListener("click", () => {
    const { current } = store.known;
    if (current !== undefined) openTimeline(current);
  });
  store.watch(["session"], ({ session }) => {
    button.classList.toggle("is-absent", session === undefined || session.view.items.length === 0);
  });
  return h("div", { class: "chat-head" }, new ContextMeter(store, api).element, button);
}
