import type { InboxItem } from "../panes/inbox/inbox-items.js";
import { h, icon } from "../parts/dom.js";
import { frameWords } from "./words.js";

/** Those who wait to be let in, as cards above the conversation. */
export interface Strangers {
  readonly element: HTMLElement;
  /** Those of the inbox. */
  show(items: readonly InboxItem[]): void;
}

/** `letIn` resolves once the inbox is read again. */
export function createStrangers(
  letIn: (code: string) => Promise<unknown>,
  onFailure: (error: unknown) => void,
): Strangers {
  const { t } = frameWords;
  const element = h("div", { class: "strangers", role: "status" });
  const dismissed = new Set<string>();
  let waiting: readonly InboxItem[] = [];
  let shown = "";

  function draw(): void {
    const open = waiting.filter(({ kind, id }) => kind === "stranger" && !dismissed.has(id));
    const now = JSON.stringify(open);
    // A card that is drawn again would lose the focus of its button.
    if (now === shown) return;
    shown = now;
    element.replaceChildren(...open.map(card));
  }

  function card({ id, name: code, channel, senderId, title }: InboxItem): HTMLElement {
    const who = title === senderId ? senderId : `${title} (${senderId})`;
    const button = h("button", { type: "button", class: "link" }, t("letIn"));
    const dismiss = h("button", { type: "button", class: "icon-button", "aria-label": t("dismiss") }, icon("close"));
    button.addEventListener("click", () => {
      button.disabled = true;
      letIn(code)
        .catch(onFailure)
        .finally(() => {
          button.disabled = false;
        });
    });
    dismiss.addEventListener("click", () => {
      dismissed.add(id);
      draw();
    });
    return h(
      "div",
      { class: "banner problem stranger" },
      h("span", {}, t("stranger", { who, channel, code })),
      button,
      dismiss,
    );
  }

  return {
    element,
    show(items) {
      waiting = items;
      draw();
    },
  };
}
