import { ClientError } from "../../client/client-error.js";
import { sizeOf } from "../../client/notices.js";
import type { UploadedFile } from "../../client/upload.js";
import { withoutTurns } from "../../util/text/visible.js";
import { chatWords } from "../chat/words.js";
import { sentenceOf } from "../failures/said.js";
import type { OutgoingFile } from "../outbox/outbox-store.js";
import { h, icon, setText } from "../parts/dom.js";

export type UploadFile = (content: Blob, name: string, signal: AbortSignal) => Promise<UploadedFile>;

/** The gateway takes no more with one message. */
const maxFiles = 20;

/** The files that go along with the message that is being written. */
export class Tray {
  readonly element = h("ul", { class: "tray", "aria-label": chatWords.t("attachedFiles"), hidden: true });
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

  /** What would go with the message: everything except what the gateway has refused. */
  get outgoing(): readonly OutgoingFile[] {
    return this.#files.filter(({ error }) => error === undefined).map(({ outgoing }) => outgoing);
  }

  add(added: Iterable<File>): void {
    this.restore([...added].map((file) => ({ name: file.name, content: file, uploaded: undefined })));
  }

  /** Adds files that may be at the gateway already. */
  restore(added: readonly OutgoingFile[]): void {
    for (const file of added) {
      const chosen = new ChosenFile(file, () => this.#remove(chosen));
      if (this.#files.length >= maxFiles) chosen.fail(new Error(chatWords.t("tooManyFiles", { n: maxFiles })));
      else void chosen.bring(this.#upload).finally(() => this.#onChange(false));
      this.files = [...this.#files, chosen];
    }
    this.#onChange(false);
  }

  /** The connection is back. */
  resume(): void {
    for (const file of this.#files)
      if (file.isWaiting) void file.bring(this.#upload).finally(() => this.#onChange(false));
  }

  /** Takes out what can go; what was refused stays, with the reason. */
  take(): readonly OutgoingFile[] {
    const taken = this.outgoing;
    for (const file of this.#files) if (file.error === undefined) file.leave();
    this.files = this.#files.filter(({ error }) => error !== undefined);
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
  readonly #file: OutgoingFile;
  readonly #abort = new AbortController();
  readonly #state = h("span", { class: "tray-state", role: "status" });
  #uploaded: UploadedFile | undefined;
  #error: string | undefined;
  #isWaiting = false;

  constructor(file: OutgoingFile, onRemove: () => void) {
    this.#file = file;
    this.#uploaded = file.uploaded;
    const onclick = (): void => {
      this.leave();
      onRemove();
    };
    this.element = h(
      "li",
      {},
      h("span", { class: "file-name" }, withoutTurns(file.name)),
      h("span", { class: "file-size" }, sizeOf(file.content.size)),
      this.#state,
      h(
        "button",
        { type: "button", class: "icon-button", "aria-label": chatWords.t("removeFile", { name: file.name }), onclick },
        icon("close"),
      ),
    );
  }

  get outgoing(): OutgoingFile {
    return { ...this.#file, uploaded: this.#uploaded };
  }

  /** It is not there yet, because the gateway is away. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** Why the gateway does not take it. */
  get error(): string | undefined {
    return this.#error;
  }

  /** Resolves once it is there, is removed, or shows why it is not there. */
  async bring(upload: UploadFile): Promise<void> {
    if (this.#uploaded !== undefined) return;
    this.#isWaiting = false;
    setText(this.#state, chatWords.t("uploading"));
    try {
      this.#uploaded = await upload(this.#file.content, this.#file.name, this.#abort.signal);
      setText(this.#state, "");
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      if (!(error instanceof ClientError && error.kind === "lost")) return this.fail(error);
      this.#isWaiting = true;
      setText(this.#state, chatWords.t("fileWaits"));
    }
  }

  /** It is brought no further from here. */
  leave(): void {
    this.#abort.abort();
  }

  fail(error: unknown): void {
    this.#error = sentenceOf(error);
    this.element.classList.add("failed");
    setText(this.#state, this.#error);
  }
}
