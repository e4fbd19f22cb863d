import { sentenceOf } from "../failures/said.js";
import { h, setText } from "../parts/dom.js";
import { momentOf } from "../parts/format.js";
import type { NoticeItem } from "../session/view-state.js";
import type { ItemView } from "./item-view.js";
import { chatWords } from "./words.js";

/** Has a failed turn tried again. Rejects with the reason where that cannot be. */
export type RetryTurn = (turnId: string) => Promise<void>;

/** What can be done about a failed turn: a button, what happens by itself, and when it was tried again. */
export class RetryLine implements ItemView<NoticeItem> {
  readonly #retry: RetryTurn;
  readonly #state = h("span", { class: "retry-state", role: "status" });
  readonly #error = h("span", { class: "retry-error", role: "alert" });
  readonly #button = h("button", { type: "button", class: "link" }, chatWords.t("again"));
  readonly element = h("div", { class: "retry-line", hidden: true }, this.#state, this.#button, this.#error);
  #turnId = "";

  constructor(retry: RetryTurn) {
    this.#retry = retry;
    this.#button.addEventListener("click", () => void this.#press());
  }

  update({ again }: NoticeItem): void {
    this.element.hidden = again === undefined || again.state === "over";
    if (again === undefined) return;
    this.#turnId = again.turnId;
    const { state, until, at } = again;
    const isWaiting = state === "waits" && Date.parse(until ?? "") > Date.now();
    if (state === "tried")
      setText(this.#state, chatWords.t("triedAgain", { time: momentOf(new Date(at ?? Date.now())) }));
    else setText(this.#state, isWaiting ? chatWords.t("waitsForProvider") : "");
    this.#button.hidden = state === "tried";
    if (state === "tried") setText(this.#error, "");
  }

  async #press(): Promise<void> {
    this.#button.disabled = true;
    setText(this.#error, "");
    try {
      await this.#retry(this.#turnId);
    } catch (error) {
      const reason = sentenceOf(error);
      setText(this.#error, chatWords.t("notTriedAgain", { reason }));
    } finally {
      this.#button.disabled = false;
    }
  }
}
