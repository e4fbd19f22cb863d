import { sizeOf } from "../../client/notices.js";
import type { UploadedFile } from "../../client/upload.js";
import { h, icon, setText } from "../parts/dom.js";

export type UploadFile = (file: File, signal: AbortSignal) => Promise<UploadedFile>;

/** A file that the reader has chosen. It is brought to the gateway at once. */
export interface ChosenFile {
  readonly element: HTMLElement;
  /** Known once it is there. */
  uploaded: UploadedFile | undefined;
  error: string | undefined;
}

/** The files that go along with the message that is being written. */
export interface Tray {
  readonly element: HTMLElement;
  /** What is shown; another chat has other files. */
  files: readonly ChosenFile[];
  readonly isBusy: boolean;
  readonly uploaded: readonly UploadedFile[];
  add(files: Iterable<File>): void;
  /** Takes out what is there; what could not be brought stays, with the reason. */
  take(): readonly UploadedFile[];
}

/** The gateway takes no more with one message. */
const maxFiles = 20;

export function createTray(upload: UploadFile, onChange: (isRemoval: boolean) => void): Tray {
  const element = h("ul", { class: "tray", "aria-label": "Attached files" });
  let files: readonly ChosenFile[] = [];

  function show(next: readonly ChosenFile[]): void {
    files = next;
    element.replaceChildren(...files.map((file) => file.element));
    element.hidden = files.length === 0;
  }

  function choose(file: File): ChosenFile {
    const abort = new AbortController();
    const state = h("span", { class: "tray-state", role: "status" }, "Uploading …");
    const remove = h(
      "button",
      { type: "button", class: "icon-button", "aria-label": `Remove ${file.name}`, onclick: onRemove },
      icon("close"),
    );
    const name = h("span", { class: "file-name" }, file.name);
    const chip = h("li", {}, name, h("span", { class: "file-size" }, sizeOf(file.size)), state, remove);
    const chosen: ChosenFile = { element: chip, uploaded: undefined, error: undefined };

    function onRemove(): void {
      abort.abort();
      show(files.filter((each) => each !== chosen));
      onChange(true);
    }

    function onFailure(error: unknown): void {
      if (abort.signal.aborted) return;
      chosen.error = error instanceof Error ? error.message : String(error);
      chip.classList.add("failed");
      setText(state, chosen.error);
      onChange(false);
    }

    if (files.length >= maxFiles) {
      onFailure(new Error(`Only ${maxFiles} files go with one message`));
      return chosen;
    }
    upload(file, abort.signal).then((uploaded) => {
      chosen.uploaded = uploaded;
      setText(state, "");
      onChange(false);
    }, onFailure);
    return chosen;
  }

  show([]);
  return {
    element,
    get files() {
      return files;
    },
    set files(next) {
      show(next);
    },
    get isBusy() {
      return files.some(({ uploaded, error }) => uploaded === undefined && error === undefined);
    },
    get uploaded() {
      return uploadedOf(files);
    },
    add(added) {
      for (const file of added) show([...files, choose(file)]);
      onChange(false);
    },
    take() {
      const taken = uploadedOf(files);
      show(files.filter(({ uploaded }) => uploaded === undefined));
      return taken;
    },
  };
}

function uploadedOf(files: readonly ChosenFile[]): readonly UploadedFile[] {
  return files.flatMap(({ uploaded }) => uploaded ?? []);
}
