import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Attachment } from "../bus/messages.js";
import type { ReceivedFile } from "../channels/channel.js";
import { ChannelError, messageOf } from "../errors.js";
import type { Logger } from "../log.js";
import { backoffMs } from "../util/async/backoff.js";
import { linked } from "../util/async/linked.js";
import { sleep } from "../util/async/sleep.js";
import { plainName } from "../util/files/file-name.js";
import { PathChangedError, resolveReal } from "../util/files/real-path.js";
import { writeReal } from "../util/files/write-real.js";

export interface ReceivedFilesOptions {
  /** Where the files of a session are kept, out of reach of its tools and commands; may not exist yet. */
  readonly folderOf: (sessionKey: string) => string;
  /** Keeps who sent a file of their own; `by` is undefined for what others had a hand in. */
  readonly noteSender?: ((file: string, by: string | undefined) => Promise<void>) | undefined;
  /** Why nothing more may be kept for the session, as the end of a sentence. */
  readonly whyFull?: ((sessionKey: string) => Promise<string | undefined>) | undefined;
  readonly maxBytes: number;
  /** Writes down what is said in a voice note; absent where nothing is configured for that. */
  readonly transcribe?: ((file: Attachment, signal: AbortSignal) => Promise<string>) | undefined;
  readonly log: Logger;
  /** The pause before a file is asked for again; each further one is four times as long. Default 1000. */
  readonly retryDelayMs?: number | undefined;
}

/** What has become of a message's files. */
export interface TakenFiles {
  readonly attachments: readonly Attachment[];
  /** What the model reads beside the text: words that were spoken, files that did not come. */
  readonly notes: readonly string[];
  /** What the sender must hear: which files were not taken, and why. */
  readonly refusals: readonly string[];
}

/** Puts the files of received messages where tools can read them. */
export interface ReceivedFiles {
  /**
   * Fetches and keeps the files. `messageId` is the platform's, so that a message which is handed out again after a crash
   * puts the same files in the same places. `by` is whose own files they are, as `channel:sender`. Never rejects but for an
   * abort: a file that cannot be had is told.
   */
  take(
    sessionKey: string,
    messageId: string,
    files: readonly ReceivedFile[],
    by: string | undefined,
    signal: AbortSignal,
  ): Promise<TakenFiles>;
  /** The sentence for a file that is too large; undefined for one that is not, or whose size nobody knows yet. */
  refusalOf(file: ReceivedFile): string | undefined;
}

const fetchAttempts = 3;
const fetchMs = 120_000;
const transcribeMs = 60_000;

export function createReceivedFiles(options: ReceivedFilesOptions): ReceivedFiles {
  const { folderOf, noteSender, whyFull, maxBytes, transcribe, log, retryDelayMs = 1000 } = options;

  const tooLarge = (name: string, bytes: number): string =>
    `${name} (${megabytes(bytes)}) is larger than the ${megabytes(maxBytes)} that I can take, so I have left it out.`;

  async function fetchOne(file: ReceivedFile, signal: AbortSignal): Promise<Uint8Array> {
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted();
      try {
        using scope = linked(signal, fetchMs);
        return await file.read(maxBytes, scope.signal);
      } catch (error) {
        signal.throwIfAborted();
        const isWorthIt = error instanceof ChannelError && error.retryable && attempt < fetchAttempts;
        if (!isWorthIt) throw error;
        await sleep(error.retryAfterMs ?? backoffMs(attempt, { firstMs: retryDelayMs, growth: 4 }), signal);
      }
    }
  }

  async function writeDown(file: Attachment, signal: AbortSignal): Promise<Omit<TakenFiles, "attachments">> {
    if (transcribe === undefined) {
      const note = "[a voice message, which is not written down here: it is in the file above]";
      return { notes: [note], refusals: [] };
    }
    try {
      using scope = linked(signal, transcribeMs);
      const words = await transcribe(file, scope.signal);
      const note = words.trim() === "" ? "[a voice message without words]" : `[spoken] ${words.trim()}`;
      return { notes: [note], refusals: [] };
    } catch (error) {
      signal.throwIfAborted();
      log.warn(`a voice message could not be written down: ${messageOf(error)}`, { file: file.path });
      return {
        notes: ["[a voice message, which could not be written down: it is in the file above; its sender was told]"],
        refusals: ["I could not listen to the voice message. Please write it, or send it again later."],
      };
    }
  }

  async function takeOne(
    file: ReceivedFile,
    path: string,
    by: string | undefined,
    signal: AbortSignal,
  ): Promise<TakenFiles> {
    const name = plainName(file.filename);
    const known = refusalOf(file);
    if (known !== undefined) return left(name, known, "it is too large");
    try {
      const bytes = await fetchOne(file, signal);
      if (bytes.length > maxBytes) return left(name, tooLarge(name, bytes.length), "it is too large");
      if (by === undefined) await noteSender?.(path, undefined);
      await writeReal(path, bytes, { mode: 0o600, folderMode: 0o700 });
      if (by !== undefined) await noteSender?.(path, by);
      const attachment = { path, filename: name, mimeType: file.mimeType, sizeBytes: bytes.length };
      const heard = file.isVoice === true ? await writeDown(attachment, signal) : { notes: [], refusals: [] };
      return { attachments: [attachment], ...heard };
    } catch (error) {
      signal.throwIfAborted();
      log.warn(`a file could not be fetched: ${messageOf(error)}`, { file: name });
      return left(name, `I could not fetch ${name}. Please send it again.`, "it could not be fetched");
    }
  }

  function refusalOf(file: ReceivedFile): string | undefined {
    const { sizeBytes = 0 } = file;
    return sizeBytes > maxBytes ? tooLarge(plainName(file.filename), sizeBytes) : undefined;
  }

  return {
    refusalOf,
    async take(sessionKey, messageId, files, by, signal) {
      const folder = await resolveReal(folderOf(sessionKey));
      if (!folder.ok) throw new PathChangedError(folderOf(sessionKey));
      const taken: TakenFiles[] = [];
      for (const [index, file] of files.entries()) {
        const full = await whyFull?.(sessionKey);
        if (full !== undefined) {
          const name = plainName(file.filename);
          taken.push(
            left(name, `I have left out ${name}: this chat's folder ${full}.`, "this chat keeps too many files"),
          );
          continue;
        }
        const path = join(folder.path, receivedName(messageId, index, plainName(file.filename)));
        taken.push(await takeOne(file, path, by, signal));
      }
      return {
        attachments: taken.flatMap(({ attachments }) => attachments),
        notes: taken.flatMap(({ notes }) => notes),
        refusals: taken.flatMap(({ refusals }) => refusals),
      };
    },
  };
}

/** Under this name a message's file is kept, the same each time the message comes. */
export function receivedName(messageId: string, index: number, plain: string): string {
  const mark = createHash("sha256").update(`${messageId}\n${index}`).digest("hex").slice(0, 8);
  return `${mark}-${plain}`;
}

function left(name: string, refusal: string, why: string): TakenFiles {
  return {
    attachments: [],
    notes: [`[the file ${name} did not come: ${why}; its sender was told]`],
    refusals: [refusal],
  };
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 / 1024)} MB`;
}
