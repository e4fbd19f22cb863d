import type { ItemView } from "../chat/item-view.js";
import { chatWords } from "../chat/words.js";
import { h, setText } from "../parts/dom.js";
import { saveBlob } from "../parts/save-blob.js";
import type { FileItem } from "../session/view-state.js";

/** Reads a file that the assistant has given. Rejects with the reason. */
export type LoadFile = (artifactId: string) => Promise<Blob>;

/** Larger pictures are only saved. */
const maxPreviewBytes = 10_000_000;
const previewTypes: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** A file of the assistant's: a picture is shown once it comes into sight, everything can be saved. */
export function fileView(load: LoadFile): ItemView<FileItem> {
  const name = h("span", { class: "file-name" });
  const size = h("span", { class: "file-size" });
  const problem = h("span", { class: "file-problem", role: "alert" });
  const save = h("button", { type: "button", class: "file-save" }, chatWords.t("save"));
  const picture = h("img", { class: "file-picture", alt: "" });
  const line = h("div", { class: "file-line" }, name, size, save, problem);
  const element = h("article", { class: "message assistant file", "aria-label": chatWords.t("file") }, picture, line);
  picture.hidden = true;
  let item: FileItem | undefined;
  let loading: Promise<Blob> | undefined;

  const fetched = (artifactId: string): Promise<Blob> => {
    loading ??= load(artifactId).catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  const failed = (error: unknown): void => setText(problem, error instanceof Error ? error.message : String(error));

  save.addEventListener("click", () => {
    if (item === undefined) return;
    const { artifactId, filename } = item;
    setText(problem, "");
    fetched(artifactId).then((blob) => saveBlob(blob, filename), failed);
  });

  const sight = new IntersectionObserver((entries) => {
    if (item === undefined || !entries.some(({ isIntersecting }) => isIntersecting)) return;
    sight.disconnect();
    const { artifactId, filename, mimeType } = item;
    fetched(artifactId).then((blob) => {
      const url = URL.createObjectURL(new Blob([blob], { type: mimeType }));
      picture.alt = filename;
      picture.addEventListener("load", () => URL.revokeObjectURL(url), { once: true });
      picture.addEventListener("error", () => URL.revokeObjectURL(url), { once: true });
      picture.src = url;
      picture.hidden = false;
    }, failed);
  });

  return {
    element,
    update(next) {
      const isNewlyReady = next.status === "ready" && item?.status !== "ready";
      item = next;
      element.dataset.status = next.status;
      setText(name, next.filename);
      setText(size, next.status === "created" ? "is being prepared …" : next.size);
      setText(problem, next.status === "failed" ? (next.error ?? "failed") : "");
      save.hidden = next.status !== "ready";
      const isPicture = previewTypes.has(next.mimeType) && (next.sizeBytes ?? 0) <= maxPreviewBytes;
      if (isNewlyReady && isPicture) sight.observe(element);
    },
  };
}
