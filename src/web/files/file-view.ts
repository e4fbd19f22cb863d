import type { ItemView } from "../chat/item-view.js";
import { h, setText } from "../parts/dom.js";
import { saveBlob } from "../parts/save-blob.js";
import type { FileItem, SentFile } from "../session/view-state.js";
import { FilePreview } from "./preview.js";
import { fileWords } from "./words.js";

/** Reads a file of the session, by its path there. Rejects with the reason. */
export type LoadFile = (path: string) => Promise<Blob>;

/** A file of the assistant's: what the browser can show is shown, everything can be saved. */
export function fileView(load: LoadFile): ItemView<FileItem> {
  const { t } = fileWords;
  let item: FileItem | undefined;
  const preview = new FilePreview(() => load(`artifacts/${encodeURIComponent(item?.artifactId ?? "")}`));
  const name = h("span", { class: "file-name" });
  const size = h("span", { class: "file-size" });
  const save = h("button", { type: "button", class: "file-save" }, t("save"));
  const line = h("div", { class: "file-line" }, name, size, preview.button, save, preview.problem);
  const parts = [preview.picture, line, preview.player];
  const element = h("article", { class: "message assistant file", "aria-label": t("file") }, ...parts);

  save.addEventListener("click", () => {
    const filename = item?.filename ?? "";
    preview.whenLoaded((blob) => saveBlob(blob, filename));
  });

  return {
    element,
    update(next) {
      const isNewlyReady = next.status === "ready" && item?.status !== "ready";
      item = next;
      element.dataset.status = next.status;
      setText(name, next.filename);
      setText(size, next.status === "created" ? t("preparing") : next.size);
      setText(preview.problem, next.status === "failed" ? (next.error ?? t("failed")) : "");
      save.hidden = next.status !== "ready";
      if (isNewlyReady) preview.show(next, next.sizeBytes ?? 0, element);
    },
  };
}

/** A file that came with a message of the reader's or of others. */
export function sentFileView(file: SentFile, load: LoadFile): HTMLElement {
  const preview = new FilePreview(() => load(`received/${encodeURIComponent(file.storedAs)}`));
  const name = h("span", { class: "file-name" }, file.filename);
  const element = h("li", {}, preview.picture, name, preview.button, preview.problem, preview.player);
  preview.reserve(file);
  preview.show(file, 0, element);
  return element;
}
