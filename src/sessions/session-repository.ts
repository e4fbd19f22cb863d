import { z } from "zod";
import { roleOf } from "./document/document-line.js";
import type { SessionFiles } from "./file-names.js";
import { headOf } from "./list/index-file.js";
import { isSessionLine, type SessionLine } from "./list/session-line.js";
import { SessionRows } from "./list/session-rows.js";
import type { DocumentMessage, SessionDocument, SessionSummary } from "./session.js";
import { FileStorage } from "./storage/file.js";
import { kindPrefixes, recordKey } from "./storage/keys.js";
import type { StorageDriver } from "./storage/storage.js";
import type { StorageIndex } from "./storage/storage-index.js";

const shownHead = z.object({ metadata: z.object({ lastSequence: z.number().optional() }).optional() });
const storedMessages = z.object({
  messages: z.array(z.object({ role: z.string(), content: z.string().nullish(), timestamp: z.string().nullish() })),
});

/** A session as it is written. */
export interface StoredSession {
  readonly document: SessionDocument;
  readonly summary: SessionSummary;
}

/**
 * Session documents over a storage. The four records of a session change as one: its line in the list, which tells up to
 * where the document shows the log, is written last and deleted first. A change that was cut off leaves the old line or
 * none, and is found and made again by comparing lines with logs.
 */
export class SessionRepository {
  readonly #driver: StorageDriver;
  readonly #index: StorageIndex | undefined;
  readonly #files: SessionFiles;
  /** The sessions that were loaded, and those written since the start. */
  #rows = new SessionRows();
  /** Their lines, where the storage keeps no index. */
  readonly #lines = new Map<string, SessionLine>();
  #loading: Promise<void> | undefined;
  /** Sessions that change while lines are being loaded: what was loaded of them does not count. */
  #fresh: Set<string> | undefined;

  constructor(driver: StorageDriver, files: SessionFiles) {
    this.#driver = driver;
    this.#index = driver instanceof FileStorage ? driver.index : undefined;
    this.#files = files;
  }

  /** As in the config, e.g. `redis`. */
  get name(): string {
    return this.#driver.name;
  }

  /** @throws {StorageError} */
  async save({ document, summary }: StoredSession): Promise<void> {
    const { key, messages, ...head } = document;
    const line: SessionLine = {
      ...summary,
      file: this.#files.documentName(key),
      lastSequence: document.metadata.lastSequence,
    };
    await this.#driver.change([
      { key: recordKey("messages", key), value: { key, messages } },
      { key: recordKey("head", key), value: { key, ...head } },
      { key: recordKey("chat", key), value: { key } },
      { key: recordKey("line", key), value: line },
    ]);
    this.#fresh?.add(key);
    this.#note(line);
  }

  /** @throws {StorageError} */
  async remove(key: string): Promise<void> {
    const kinds = ["line", "chat", "head", "messages"] as const;
    await this.#driver.change(kinds.map((kind) => ({ key: recordKey(kind, key), value: undefined })));
    this.#fresh?.add(key);
    this.#rows.delete(key);
    this.#lines.delete(key);
  }

  /** Up to where the session's document shows its log; undefined when there is none. @throws {StorageError} */
  async shown(key: string): Promise<Pick<SessionLine, "lastSequence"> | undefined> {
    const head = await this.#driver.get(recordKey("head", key));
    if (head === undefined || head === null) return undefined;
    const lastSequence = shownHead.safeParse(head).data?.metadata?.lastSequence;
    return lastSequence === undefined ? {} : { lastSequence };
  }

  /** The messages of the session's document. @throws {StorageError} */
  async messages(key: string): Promise<readonly DocumentMessage[] | undefined> {
    const found = storedMessages.safeParse(await this.#driver.get(recordKey("messages", key)));
    return found.data?.messages.map(({ role, content, timestamp }) => ({
      role: roleOf(role),
      content: content ?? "",
      timestamp: timestamp ?? "",
    }));
  }

  /** Whether the storage answers at all. */
  async answers(key: string): Promise<boolean> {
    return await this.#driver.get(recordKey("line", key)).then(
      () => true,
      () => false,
    );
  }

  /**
   * Loads the lines of all sessions, once. Before it, or after it has failed, only what was written since is known.
   *
   * @throws {StorageError}
   */
  async load(): Promise<void> {
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    await this.#loading;
  }

  /** The sessions that are known, and where they are. */
  get rows(): SessionRows {
    return this.#rows;
  }

  /** The lines of these sessions; of those that are gone there is none. @throws {StorageError} */
  async lines(keys: readonly string[]): Promise<ReadonlyMap<string, SessionLine>> {
    const found =
      this.#index === undefined
        ? keys.map((key) => this.#lines.get(key))
        : await this.#driver.getMany(keys.map((key) => recordKey("line", key)));
    return new Map(found.flatMap((line) => (isSessionLine(line) ? [[line.key, line]] : [])));
  }

  /** Whether some session's line names this document. Only where the storage keeps no index. */
  get listedFiles(): ReadonlySet<string> {
    return new Set([...this.#lines.values()].map(({ file }) => file));
  }

  /** The files of the logs that no line belongs to, where the storage keeps an index. @throws {StorageError} */
  async strayLogs(): Promise<readonly string[] | undefined> {
    return await this.#index?.strayLogs();
  }

  async #load(): Promise<void> {
    if (this.#index !== undefined) {
      this.#rows = await this.#index.rows();
      return;
    }
    const fresh = new Set<string>();
    this.#fresh = fresh;
    const keys = await this.#driver.keys(kindPrefixes.line);
    for (const line of await this.#driver.getMany(keys))
      if (isSessionLine(line) && !fresh.has(line.key)) this.#note(line);
    this.#fresh = undefined;
  }

  #note(line: SessionLine): void {
    this.#rows.set(headOf(line));
    if (this.#index === undefined) this.#lines.set(line.key, line);
  }
}
