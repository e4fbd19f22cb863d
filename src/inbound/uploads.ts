import { randomBytes } from "node:crypto";
import { lstat, readdir, realpath, rm } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import type { Attachment } from "../bus/messages.js";
import { messageOf, RequestError } from "../errors.js";
import type { Logger } from "../log.js";
import { codeOf } from "../util/error-code.js";
import { mimeTypeOf } from "../util/files/content-types.js";
import { plainName } from "../util/files/file-name.js";
import { makeFolder } from "../util/files/make-folder.js";
import { mayHaveTwin } from "../util/files/noted-file.js";
import type { OpenedFile } from "../util/files/opened-file.js";
import { openReal, PathChangedError, resolveReal } from "../util/files/real-path.js";
import { writeReal } from "../util/files/write-real.js";
import { receivedName } from "./received-files.js";
import { TakenUploads } from "./taken-uploads.js";

/** A file on its way to the gateway. */
export interface UploadRequest {
  /** As its owner calls it. */
  readonly filename: string;
  /** Default: what the name's end stands for. */
  readonly mimeType?: string | undefined;
  /** What its sender says, so that a file that is too large is refused before it is sent. */
  readonly sizeBytes?: number | undefined;
  readonly content: AsyncIterable<Uint8Array>;
}

/** Files that people give to the gateway before the message that they belong to: `<id>-<name>` in one folder. */
export interface Uploads {
  /** Where they are. No tool looks into it. */
  readonly folder: string;
  /**
   * Keeps a file durably, or leaves nothing of it behind.
   *
   * @throws {RequestError} 413 too large, 507 or 503 when it cannot be written; and whatever the content throws
   */
  keep(file: UploadRequest): Promise<Attachment>;
  /** @throws {RequestError} 404 */
  open(name: string): Promise<OpenedFile>;
  /** A file that came with a message of this session, by the last part of its path. @throws {RequestError} 404 */
  openReceived(sessionKey: string, name: string): Promise<OpenedFile>;
  /**
   * Gives them to a session, where its tools can read them. The same message finds them where they are, another one
   * gets copies. `by` is whose own files they are, as `channel:sender`.
   *
   * @throws {RequestError} 400 for one that is not there, 413 too large, 507 or 503 when it cannot be written
   */
  hand(sessionKey: string, messageId: string, files: readonly Attachment[], by: string): Promise<readonly Attachment[]>;
}

export function createUploads(options: {
  readonly folder: string;
  /** Where the files of a session are kept; may not exist yet. */
  readonly receivedOf: (sessionKey: string) => string;
  /** Keeps who sent a file of their own. */
  readonly noteSender?: ((file: string, by: string) => Promise<void>) | undefined;
  readonly maxBytes: () => number;
  readonly log: Logger;
}): Uploads {
  const { folder, receivedOf, noteSender, maxBytes, log } = options;
  const taken = new TakenUploads(folder, receivedOf);
  const files = new UploadFolder(folder, { taken, maxBytes, log });
  return {
    folder,

    async keep({ filename, mimeType, sizeBytes = 0, content }) {
      const name = plainName(filename);
      if (sizeBytes > maxBytes()) throw tooLarge(name, maxBytes());
      await files.prepare(name);
      const path = join(folder, `${randomBytes(6).toString("hex")}-${name}`);
      const size = await files.write(path, name, content);
      return { path, filename: name, mimeType: mimeType ?? mimeTypeOf(name), sizeBytes: size };
    },

    async open(name) {
      const found = isName(name) ? await files.open(join(folder, name)) : undefined;
      if (found === undefined) throw noFile(name);
      return found;
    },

    async openReceived(sessionKey, name) {
      const found = isName(name) ? await openIn(receivedOf(sessionKey), name, log) : undefined;
      if (found === undefined) throw noFile(name);
      return found;
    },

    async hand(sessionKey, messageId, attachments, by) {
      const received = receivedOf(sessionKey);
      const handed: Attachment[] = [];
      for (const [index, file] of attachments.entries()) {
        const filename = plainName(file.filename);
        const path = join(received, receivedName(`${messageId}\n${file.path}`, index, filename));
        const known = await lstat(path).catch(() => undefined);
        const sizeBytes = known?.isFile() === true ? known.size : await files.copy(file.path, filename, path);
        await noteSender?.(path, by);
        await taken.noteMoved(file.path, sessionKey, path);
        handed.push({ path, filename, mimeType: file.mimeType, sizeBytes });
      }
      return handed;
    },
  };
}

/** The folder itself: what is written into it and read from it, also over links, and what sessions took from there. */
class UploadFolder {
  readonly #folder: string;
  readonly #taken: TakenUploads;
  readonly #maxBytes: () => number;
  readonly #log: Logger;
  #cleaning: Promise<void> | undefined;

  constructor(
    folder: string,
    { taken, maxBytes, log }: { readonly taken: TakenUploads; readonly maxBytes: () => number; readonly log: Logger },
  ) {
    this.#folder = folder;
    this.#taken = taken;
    this.#maxBytes = maxBytes;
    this.#log = log;
  }

  /** Makes the folder, and the first time takes away what an earlier process left in it. */
  async prepare(name: string): Promise<void> {
    await makeFolder(this.#folder).catch((error: unknown) => {
      throw diskFault(error, name);
    });
    this.#cleaning ??= removeUnfinished(this.#folder).then(() => this.#taken.tidy());
    await this.#cleaning;
  }

  /** Resolves with the size. `name` is what people call it. */
  async write(target: string, name: string, content: AsyncIterable<Uint8Array>): Promise<number> {
    let broken: unknown;
    const bytes = limited(content, this.#maxBytes(), name, (error) => {
      broken = error;
    });
    try {
      return await writeReal(await realPathOf(target), bytes, { mode: 0o600, folderMode: 0o700 });
    } catch (error) {
      if (error === broken) throw error;
      this.#log.warn(`A file could not be written: ${messageOf(error)}`, { file: name, error });
      throw diskFault(error, name);
    }
  }

  async copy(from: string, name: string, target: string): Promise<number> {
    const source = await this.open(from);
    if (source === undefined)
      throw new RequestError(`${name} is not there any more. Please attach it again.`, {
        status: 400,
        code: "bad_request",
      });
    await using handle = source.handle;
    return await this.write(target, name, handle.createReadStream({ autoClose: false, start: 0 }));
  }

  async open(path: string): Promise<OpenedFile | undefined> {
    try {
      const real = await this.#realPathOf(path);
      if (real === undefined) return undefined;
      const handle = await openReal(real);
      const { size } = await handle.stat();
      const filename = basename(path).replace(/^[0-9a-f]{12}-/, "");
      return { filename, mimeType: mimeTypeOf(filename), sizeBytes: size, handle };
    } catch (error) {
      this.#log.debug(`A file was not opened: ${messageOf(error)}`, { path });
    }
    return undefined;
  }

  /** What is in the folder, also over a link of the folder itself, or was taken from there by a session. */
  async #realPathOf(path: string): Promise<string | undefined> {
    const inside = (await realpath(this.#folder)) + sep;
    const real = await realpath(path).catch(() => undefined);
    if (real !== undefined) return real.startsWith(inside) && !isUnfinished(basename(real)) ? real : undefined;
    const gone = join(await realpath(dirname(path)), basename(path));
    const copy = gone.startsWith(inside) ? await this.#taken.find(gone) : undefined;
    return copy && (await realpath(copy));
  }
}

/** What is opened is a file there, and not what a link leads to. */
async function openIn(folder: string, name: string, log: Logger): Promise<OpenedFile | undefined> {
  try {
    const path = await realPathOf(join(folder, name));
    const handle = await openReal(path, { alone: mayHaveTwin(path) });
    const { size } = await handle.stat();
    return { filename: name.replace(/^[0-9a-f]{8}-/, ""), mimeType: mimeTypeOf(name), sizeBytes: size, handle };
  } catch (error) {
    log.debug(`A file was not opened: ${messageOf(error)}`, { folder, name });
    return undefined;
  }
}

function isName(name: string): boolean {
  return !/^\.|[/\\\0]/.test(name);
}

function noFile(name: string): RequestError {
  return new RequestError(`There is no file ${name.slice(0, 80)}.`, { status: 404, code: "not_found" });
}

async function* limited(
  content: AsyncIterable<Uint8Array>,
  maxBytes: number,
  name: string,
  onError: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  try {
    for await (const chunk of content) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge(name, maxBytes);
      yield chunk;
    }
  } catch (error) {
    onError(error);
    throw error;
  }
}

/** What a gateway that ended in the middle has left. */
async function removeUnfinished(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names)
    if (isUnfinished(name)) await rm(join(folder, name), { force: true }).catch(() => undefined);
}

function isUnfinished(name: string): boolean {
  return /^\.|\.(?:part|tmp)$/.test(name);
}

/** What leads to the folder may be a link. */
async function realPathOf(target: string): Promise<string> {
  const folder = await resolveReal(dirname(target));
  if (!folder.ok) throw new PathChangedError(target);
  return join(folder.path, basename(target));
}

function tooLarge(name: string, maxBytes: number): RequestError {
  const megabytes = Math.floor(maxBytes / 1024 / 1024);
  const message = `${name} is larger than the ${megabytes} MB that are taken (setting inbound.maxFileMegabytes).`;
  return new RequestError(message, { status: 413, code: "too_large" });
}

function diskFault(error: unknown, name: string): RequestError {
  const code = codeOf(error);
  const isFull = code === "ENOSPC" || code === "EDQUOT";
  const why = isFull ? "The gateway's disk is full" : "The gateway cannot use its disk right now";
  return new RequestError(`${why}. ${name} was not kept.`, {
    status: isFull ? 507 : 503,
    code: "PERSISTENCE_FAILED",
    cause: error,
  });
}
