import { sentenceOf } from "../failures/said.js";
import { h, setText } from "../parts/dom.js";
import { fileWords } from "./words.js";

export interface PreviewedFile {
  readonly filename: string;
  readonly mimeType: string;
  /** What a picture shows. Default: a picture of that name. */
  readonly alt?: string | undefined;
}

/** Larger files are only saved. */
const maxPreviewBytes = 20_000_000;
const pictureTypes: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const audioType = /^audio\/(?:mpeg|mp4|ogg|wav|x-wav|webm|aac|flac|x-m4a)$/;

/** A file as far as the browser can show it: a picture once it comes into sight, sound and PDF when the reader asks. */
export class FilePreview {
  readonly picture = h("img", { class: "file-picture", alt: "", hidden: true });
  /** Below the line of the file. */
  readonly player = h("div", { class: "file-player", hidden: true });
  readonly button = h("button", { type: "button", class: "file-save", hidden: true });
  readonly problem = h("span", { class: "file-problem", role: "alert" });
  readonly #load: () => Promise<Blob>;
  #loading: Promise<Blob> | undefined;

  constructor(load: () => Promise<Blob>) {
    this.#load = load;
  }

  /** Makes room for a picture of which the size is not known yet. */
  reserve(file: PreviewedFile): void {
    this.picture.hidden = !pictureTypes.has(file.mimeType);
  }

  /** Once, when the file is there. `box` is what comes into sight. */
  show(file: PreviewedFile, sizeBytes: number, box: Element): void {
    if (sizeBytes > maxPreviewBytes) return;
    if (pictureTypes.has(file.mimeType))
      onceInSight(box, () => this.whenLoaded((blob) => this.#showPicture(file, blob)));
    else if (audioType.test(file.mimeType))
      this.#offer(fileWords.t("listen"), fileWords.t("listenTo", { name: file.filename }), (blob) =>
        this.#play(file, blob),
      );
    else if (file.mimeType === "application/pdf")
      this.#offer(fileWords.t("open"), fileWords.t("openName", { name: file.filename }), openPdf);
  }

  whenLoaded(use: (blob: Blob) => void): void {
    setText(this.problem, "");
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    this.#loading.then(use).catch((error: unknown) => {
      setText(this.problem, sentenceOf(error));
    });
  }

  #offer(text: string, label: string, use: (blob: Blob) => void): void {
    this.button.textContent = text;
    this.button.setAttribute("aria-label", label);
    this.button.hidden = false;
    this.button.addEventListener("click", () => this.whenLoaded(use));
  }

  #showPicture({ filename, mimeType, alt }: PreviewedFile, blob: Blob): void {
    const { picture } = this;
    const url = URL.createObjectURL(new Blob([blob], { type: mimeType }));
    picture.alt = alt ?? fileWords.t("picture", { name: filename });
    for (const end of ["load", "error"]) picture.addEventListener(end, () => URL.revokeObjectURL(url), { once: true });
    picture.addEventListener("error", () => {
      picture.hidden = true;
      setText(this.problem, fileWords.t("noPicture"));
    });
    picture.src = url;
    picture.hidden = false;
  }

  #play({ filename, mimeType }: PreviewedFile, blob: Blob): void {
    // Its address lives as long as the page: who goes back in the sound has it read again.
    const src = URL.createObjectURL(new Blob([blob], { type: mimeType }));
    const audio = h("audio", { controls: true, "aria-label": filename, src });
    this.player.replaceChildren(audio);
    this.player.hidden = false;
    this.button.hidden = true;
    audio.focus();
  }
}

/** The browser's own viewer shows it. The type is ours: whatever is in the file, it is opened as a PDF and nothing else. */
function openPdf(blob: Blob): void {
  const href = URL.createObjectURL(new Blob([blob], { type: "application/pdf" }));
  h("a", { href, target: "_blank", rel: "noopener noreferrer" }).click();
  // The tab has read it by then.
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

function onceInSight(element: Element, then: () => void): void {
  const sight = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    sight.disconnect();
    then();
  });
  sight.observe(element);
}
