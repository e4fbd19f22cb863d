import { sizeOf } from "../../client/notices.js";
import type { UploadedFile } from "../../client/upload.js";
import { h, icon, setText } from "../parts/dom.js";

export type UploadFile = (file: File, signal: AbortSignal) => Promise<UploadedFile>;

/** The gateway takes no more with one message. */
const maxFiles = 20;

/** The files that go along with the message that is being written. */
export class Tray {
  readonly element = h("ul", { class: "tray", "aria-label": "Attached files", hidden: true });
  readonly #upload: UploadFile;
  readonly #onChange: (isRemoval: boolean) => void;
  #files: readonly ChosenFile[] = [];

  constructor(upload: UploadFile, onChange: (isRemoval: boolean) => void) {
    this.#upload = upload;
    this.#onChange = onChange;
  }

  /** What is shown; another chat has other files. */
  get files(): readonly ChosenFile[] {
    return this.#files;
  }

  set files(files: readonly ChosenFile[]) {
    this.#files = files;
    this.element.replaceChildren(...files.map(({ element }) => element));
    this.element.hidden = files.length === 0;
  }

  get isBusy(): boolean {
    return this.#files.some(({ uploaded, error }) => uploaded === undefined && error === undefined);
  }

  get uploaded(): readonly UploadedFile[] {
    return this.#files.flatMap(({ uploaded }) => uploaded ?? []);
  }

  add(added: Iterable<File>): void {
    for (const file of added) {
      const chosen = new ChosenFile(file, () => this.#remove(chosen));
      if (this.#files.length >= maxFiles) chosen.fail(new Error(`Only ${maxFiles} files go with one message`));
      else void chosen.bring(this.#upload).finally(() => this.#onChange(false));
      this.files = [...this.#files, chosen];
    }
    this.#onChange(false);
  }

  /** Takes out what is there; what could not be brought stays, with the reason. */
  take(): readonly UploadedFile[] {
    const taken = this.uploaded;
    this.files = this.#files.filter(({ uploaded }) => uploaded === undefined);
    return taken;
  }

  #remove(chosen: ChosenFile): void {
    this.files = this.#files.filter((each) => each !== chosen);
    this.#onChange(true);
  }
}

/** A file that the reader has chosen. It is brought to the gateway at once. */
export class ChosenFile {
  readonly element: HTMLElement;
  readonly #file: File;
  readonly #abort = new AbortController();
  readonly #state = h("span", { class: "tray-state", role: "status" }, "Uploading …");
  #uploaded: UploadedFile | undefined;
  #error: string | undefined;

  constructor(file: File, onRemove: () => void) {
    this.#file = file;
    const onclick = (): void => {
      this.#abort.abort();
      onRemove();
    };
    this.element = h(
      "li",
      {},
      h("span", { class: "file-name" }, file.name),
      h("span", { class: "file-size" }, sizeOf(file.size)),
      this.#state,
      h(
        "button",
        { type: "button", class: "icon-button", "aria-label": `Remove ${file.name}`, onclick },
        icon("close"),
      ),
    );
  }

  /** Known once it is there. */
  get uploaded(): UploadedFile | undefined {
    return this.#uploaded;
  }

  get error(): string | undefined {
    return this.#error;
  }

  /** Resolves once it is there, is removed, or shows why it is not there. */
  async bring(upload: UploadFile): Promise<void> {
    try {
      this.#uploaded = await upload(this.#file, this.#abort.signal);
      setText(this.#state, "");
    } catch (error) {
      if (!this.#abort.signal.aborted) this.fail(error);
    }
  }

  fail(error: unknown): void {
    this.#error = error instanceof Error ? error.message : String(error);
    this.element.classList.add("failed");
    setText(this.#state, this.#error);
  }
}
