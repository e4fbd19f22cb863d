import { frameWords } from "../frame/words.js";
import { h } from "./dom.js";

export interface Question {
  readonly title: string;
  readonly text?: string;
  /** Asks for a line of text as well. */
  readonly field?: {
    readonly label: string;
    readonly value: string;
    readonly isSecret?: boolean;
    readonly maxLength: number;
  };
  readonly action: string;
  readonly isDangerous?: boolean;
  /** False when there is no way on without an answer. */
  readonly canCancel?: boolean;
}

/** Resolves with the text (empty where none was asked for), or with `undefined` when the reader cancels. */
export function ask(question: Question): Promise<string | undefined> {
  const { field, canCancel = true } = question;
  const input = field && h("input", { type: field.isSecret ? "password" : "text", id: "dialog-field", required: true });
  if (field && input) {
    input.value = field.value;
    input.maxLength = field.maxLength;
    input.autocomplete = "off";
  }
  const form = h(
    "form",
    { method: "dialog" },
    h("h2", { id: "dialog-title" }, question.title),
    question.text === undefined ? undefined : h("p", {}, question.text),
    field && h("label", { for: "dialog-field" }, field.label),
    input,
    h(
      "div",
      { class: "dialog-actions" },
      canCancel
        ? h("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, frameWords.t("cancel"))
        : undefined,
      h("button", { type: "submit", class: question.isDangerous ? "danger" : "primary" }, question.action),
    ),
  );
  const dialog = h("dialog", { "aria-labelledby": "dialog-title", "data-stays": canCancel ? undefined : "" }, form);
  document.body.append(dialog);
  return new Promise((resolve) => {
    let answer: string | undefined;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      answer = input?.value.trim() ?? "";
      if (input !== undefined && answer === "") return;
      dialog.close();
    });
    dialog.addEventListener("cancel", (event) => {
      if (!canCancel) event.preventDefault();
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(answer);
    });
    dialog.showModal();
    input?.select();
  });
}

/** For when the reader goes elsewhere: what is asked about the page of before is answered with no. */
export function closeDialogs(): void {
  for (const dialog of document.querySelectorAll<HTMLDialogElement>("dialog[open]:not([data-stays])")) dialog.close();
}
