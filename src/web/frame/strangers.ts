import type { GatewayHttp } from "../gateway/gateway-http.js";
import type { StrangerView } from "../gateway/gateway-views.js";
import { h, icon } from "../parts/dom.js";
import { frameWords } from "./words.js";

/** Those who wait to be let in, as cards above the conversation. */
export interface Strangers {
  readonly element: HTMLElement;
  /** Looks who waits. Failures are nobody's concern: the next look comes. */
  refresh(): void;
}

const lookMs = 20_000;

export function createStrangers(
  http: Pick<GatewayHttp, "strangers" | "letIn">,
  onFailure: (error: unknown) => void,
): Strangers {
  const element = h("div", { class: "strangers", role: "status" });
  const dismissed = new Set<string>();
  let shown = "";

  function draw(waiting: readonly StrangerView[]): void {
    const open = waiting.filter(({ code }) => !dismissed.has(code));
    const now = JSON.stringify(open);
    // A card that is drawn again would lose the focus of its button.
    if (now === shown) return;
    shown = now;
    element.replaceChildren(...open.map(card));
  }

  function card(stranger: StrangerView): HTMLElement {
    const { code, channel, senderId, senderName } = stranger;
    const who = senderName === undefined ? senderId : `${senderName} (${senderId})`;
    const letIn = h("button", { type: "button", class: "link" }, frameWords.t("letIn"));
    const dismiss = h(
      "button",
      { type: "button", class: "icon-button", "aria-label": frameWords.t("dismiss") },
      icon("close"),
    );
    const text = h("span", {}, frameWords.t("stranger", { who, channel, code }));
    letIn.addEventListener("click", () => {
      letIn.disabled = true;
      http.letIn(code).catch(onFailure).finally(refresh);
    });
    dismiss.addEventListener("click", () => {
      dismissed.add(code);
      refresh();
    });
    return h("div", { class: "banner problem stranger" }, text, letIn, dismiss);
  }

  function refresh(): void {
    http.strangers().then(draw, () => undefined);
  }

  setInterval(() => {
    if (document.visibilityState === "visible") refresh();
  }, lookMs);
  return { element, refresh };
}
