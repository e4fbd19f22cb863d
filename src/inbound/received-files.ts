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
import { type Heard, hear, type Transcribe } from "./voice-notes.js";

export interface ReceivedFilesOptions {
  /** Where the files of a session are kept, out of reach of its tools and commands; may not exist yet. */
  readonly folderOf: (sessionKey: string) => string;
  /** Keeps who sent a file of their own; `by` is undefined for what others had a hand in. */
  readonly noteSender?: ((file: string, by: string | undefined) => Promise<void>) | undefined;
  /** Why nothing more may be kept for the session, as the end of a sentence. */
  readonly whyFull?: ((sessionKey: string) => Promise<string | undefined>) | undefined;
  readonly maxBytes: number;
  /** Absent where nothing is configured for that. */
  readonly transcribe?: Transcribe | undefined;
  readonly log: Logger;
  /** The pause before a file is asked for again; each further one is four times as long. Default 1000. */
  readonly retryDelayMs?: number | undefined;
}

/** What has happened to a message's files: what is read besides its text, and what its sender must hear. */
export interface TakenFiles extends Heard {
  readonly attachments: readonly Attachment[];
  /** How many were too large. */
  readonly tooLarge: number;
}

const fetchAttempts = 3;
const fetchMs = 120_000;

/** Puts the files of received messages where tools can read them. */
export class ReceivedFiles {
  readonly #options: ReceivedFilesOptions;

  constructor(options: ReceivedFilesOptions) {
    this.#options = options;
  }

  /** The sentence for a file that is too large; undefined for one that is not, or whose size nobody knows yet. */
  refusalOf({ filename, sizeBytes = 0 }: ReceivedFile): string | undefined {
    return sizeBytes > this.#options.maxBytes ? this.#tooLarge(plainName(filename), sizeBytes) : undefined;
  }

  /**
   * Fetches and keeps the files. `messageId` is the platform's, so that a message which is handed out again after a crash
   * puts the same files in the same places. `by` is whose own files they are, as `channel:sender`. Never rejects except for an
   * abort: a file that cannot be had is told.
   */
  async take(
    sessionKey: string,
    messageId: string,
    files: readonly ReceivedFile[],
    by: string | undefined,
    signal: AbortSignal,
  ): Promise<TakenFiles> {
    const { folderOf, whyFull } = this.#options;
    const folder = await resolveReal(folderOf(sessionKey));
    if (!folder.ok) throw new PathChangedError(folderOf(sessionKey));
    const taken: TakenFiles[] = [];
    for (const [index, file] of files.entries()) {
      const name = plainName(file.filename);
      const full = await whyFull?.(sessionKey);
      const path = join(folder.path, receivedName(messageId, index, name));
      taken.push(full === undefined ? await this.#takeOne(file, path, by, signal) : noRoom(name, full));
    }
    return {
      attachments: taken.flatMap(({ attachments }) => attachments),
      notes: taken.flatMap(({ notes }) => notes),
      refusals: taken.flatMap(({ refusals }) => refusals),
      tooLarge: taken.reduce((sum, { tooLarge }) => sum + tooLarge, 0),
    };
  }

  async #takeOne(file: ReceivedFile, path: string, by: string | undefined, signal: AbortSignal): Promise<TakenFiles> {
    const { maxBytes, transcribe, log } = this.#options;
    const name = plainName(file.filename);
    const known = this.refusalOf(file);
    if (known !== undefined) return tooLarge(name, known);
    try {
      const bytes = await this.#fetch(file, signal);
      if (bytes.length > maxBytes) return tooLarge(name, this.#tooLarge(name, bytes.length));
      await this.#keep(path, bytes, by);
      const attachment = { path, filename: name, mimeType: file.mimeType, sizeBytes: bytes.length };
      const heard = file.isVoice === true ? await hear(attachment, transcribe, log, signal) : silent;
      return { attachments: [attachment], tooLarge: 0, ...heard };
    } catch (error) {
      signal.throwIfAborted();
      log.warn(`a file could not be fetched: ${messageOf(error)}`, { file: name });
      return left(name, `I could not fetch ${name}. Please send it again.`, "it could not be fetched");
    }
  }

  async #fetch(file: ReceivedFile, signal: AbortSignal): Promise<Uint8Array> {
    const { maxBytes, retryDelayMs = 1000 } = this.#options;
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

  /** At no moment does a file of others count as somebody's own. */
  async #keep(path: string, bytes: Uint8Array, by: string | undefined): Promise<void> {
    const { noteSender } = this.#options;
    if (by === undefined) await noteSender?.(path, undefined);
    await writeReal(path, bytes, { mode: 0o600, folderMode: 0o700 });
    if (by !== undefined) await noteSender?.(path, by);
  }

  #tooLarge(name: string, bytes: number): string {
    const { maxBytes } = this.#options;
    return `${name} (${megabytes(bytes)}) is larger than the ${megabytes(maxBytes)} that I can take, so I have left it out.`;
  }
}

const silent: Heard = { notes: [], refusals: [] };

/** Under this name a message's file is kept, the same each time the message comes. */
export function receivedName(messageId: string, index: number, plain: string): string {
  const mark = createHash("sha256").update(`${messageId}\n${index}`).digest("hex").slice(0, 8);
  return `${mark}-${plain}`;
}

function noRoom(name: string, full: string): TakenFiles {
  return left(name, `I have left out ${name}: this chat's folder ${full}.`, "this chat keeps too many files");
}

function tooLarge(name: string, refusal: string): TakenFiles {
  return { ...left(name, refusal, "it is too large"), tooLarge: 1 };
}

function left(name: string, refusal: string, why: string): TakenFiles {
  return {
    attachments: [],
    notes: [`[the file ${name} did not come: ${why}; its sender was told]`],
    refusals: [refusal],
    tooLarge: 0,
  };
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 / 1024)} MB`;
}
