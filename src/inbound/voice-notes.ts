import type { Attachment } from "../bus/messages.js";
import { messageOf } from "../errors.js";
import type { Logger } from "../log.js";
import { linked } from "../util/async/linked.js";

/** Writes down what is said in a voice note. */
export type Transcribe = (file: Attachment, signal: AbortSignal) => Promise<string>;

/** What is read beside the file, and what its sender must hear. */
export interface Heard {
  readonly notes: readonly string[];
  readonly refusals: readonly string[];
}

const transcribeMs = 60_000;

/** Rejects for an abort only: words that could not be had are told. */
export async function hear(
  file: Attachment,
  transcribe: Transcribe | undefined,
  log: Logger,
  signal: AbortSignal,
): Promise<Heard> {
  if (transcribe === undefined)
    return { notes: ["[a voice message, which is not written down here: it is in the file above]"], refusals: [] };
  try {
    using scope = linked(signal, transcribeMs);
    const words = (await transcribe(file, scope.signal)).trim();
    return { notes: [words === "" ? "[a voice message without words]" : `[spoken] ${words}`], refusals: [] };
  } catch (error) {
    signal.throwIfAborted();
    log.warn(`a voice message could not be written down: ${messageOf(error)}`, { file: file.path });
    return {
      notes: ["[a voice message, which could not be written down: it is in the file above; its sender was told]"],
      refusals: ["I could not listen to the voice message. Please write it, or send it again later."],
    };
  }
}
