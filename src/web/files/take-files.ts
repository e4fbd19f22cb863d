import { chatWords } from "../chat/words.js";
import { h, icon } from "../parts/dom.js";

type OnFiles = (files: Iterable<File>) => void;

/** A button that has the reader choose files. `input` is not visible and belongs beside it. */
export function createFileChooser(onFiles: OnFiles): {
  readonly button: HTMLButtonElement;
  readonly input: HTMLInputElement;
} {
  const input = h("input", {
    type: "file",
    multiple: true,
    hidden: true,
    tabindex: "-1",
    "aria-label": chatWords.t("files"),
  });
  input.addEventListener("change", () => {
    onFiles(input.files ?? []);
    // Else the same file could not be chosen again.
    input.value = "";
  });
  const label = chatWords.t("attach");
  const onclick = (): void => input.click();
  const button = h(
    "button",
    { type: "button", class: "round attach", "aria-label": label, title: label, onclick },
    icon("attach"),
  );
  return { button, input };
}

/** Takes files that are pasted into `area`. */
export function takePastedFiles(area: HTMLElement, onFiles: OnFiles): void {
  area.addEventListener("paste", (event) => {
    const pasted = event.clipboardData;
    // Word processors put a picture of the text beside the text.
    if (pasted === null || pasted.files.length === 0 || pasted.types.includes("text/plain")) return;
    event.preventDefault();
    onFiles(pasted.files);
  });
}

/** Takes files that are dropped anywhere on the page: beside `box` the browser would leave the page for the file. */
export function takeDroppedFiles(box: HTMLElement, onFiles: OnFiles): void {
  const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes("Files") === true;
  window.addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    box.classList.add("dropping");
  });
  window.addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) box.classList.remove("dropping");
  });
  window.addEventListener("drop", (event) => {
    box.classList.remove("dropping");
    if (!hasFiles(event)) return;
    event.preventDefault();
    onFiles(event.dataTransfer?.files ?? []);
  });
}
