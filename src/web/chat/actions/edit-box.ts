import { sentenceOf } from "../../failures/said.js";
import { h, setText } from "../../parts/dom.js";
import { onKey } from "../../parts/keyboard.js";
import { actionWords } from "./words.js";

interface EditOptions {
  readonly text: string;
  readonly hasFiles: boolean;
  /** Rejects with the reason. */
  send(text: string): Promise<void>;
  /** It is over, sent or not. */
  onClose(): void;
}

/** A message of the reader's in the place where it was, to be written again. Enter sends, Esc leaves it as it was. */
export class EditBox {
  readonly element: HTMLElement;
  readonly #area = h("textarea", {
    dir: "auto",
    rows: "2",
    "aria-label": actionWords.t("editField"),
    enterkeyhint: "send",
  });
  readonly #send = h("button", { type: "submit", class: "primary" }, actionWords.t("send"));
  readonly #note = h("p", { class: "edit-note", role: "status" });
  readonly #before = document.activeElement;
  readonly #options: EditOptions;

  constructor(options: EditOptions) {
    const { t } = actionWords;
    this.#options = options;
    this.#area.value = options.text;
    this.#say(options.hasFiles ? `${t("editNote")} ${t("editFiles")}` : t("editNote"));
    const cancel = h("button", { type: "button", class: "quiet", onclick: () => this.#close() }, t("cancel"));
    const form = h(
      "form",
      { class: "edit-box" },
      this.#area,
      this.#note,
      h("div", { class: "edit-actions" }, cancel, this.#send),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#submit();
    });
    this.#area.addEventListener("input", () => this.#fit());
    onKey(this.#area, "Enter", ({ shiftKey }) => {
      if (shiftKey) return false;
      void this.#submit();
      return true;
    });
    // Not for the answer that is being written.
    onKey(form, "Escape", () => {
      this.#close();
      return true;
    });
    this.element = form;
  }

  /** Once it is on the page. */
  focus(): void {
    this.#fit();
    this.#area.focus();
    this.#area.setSelectionRange(this.#area.value.length, this.#area.value.length);
  }

  async #submit(): Promise<void> {
    const text = this.#area.value.trim();
    if (this.#send.disabled || (text === "" && !this.#options.hasFiles)) return;
    this.#send.disabled = true;
    this.#say(actionWords.t("sending"));
    try {
      await this.#options.send(text);
      this.#options.onClose();
    } catch (error) {
      this.#send.disabled = false;
      this.#say(sentenceOf(error));
    }
  }

  #close(): void {
    this.#options.onClose();
    if (this.#before instanceof HTMLElement && this.#before.isConnected) this.#before.focus();
  }

  #say(text: string): void {
    setText(this.#note, text);
  }

  #fit(): void {
    if (CSS.supports("field-sizing", "content")) return;
    this.#area.style.height = "auto";
    this.#area.style.height = `${Math.min(this.#area.scrollHeight, 320)}px`;
  }
}
