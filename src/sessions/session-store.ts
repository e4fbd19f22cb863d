import { join } from "node:path";
import { EngineError, messageOf } from "../errors.js";
import { typesWhere } from "../events/catalogue.js";
import { type GatewayEvent, isStored } from "../events/event.js";
import type { PlanState } from "../events/folds/plan.js";
import { isDeletedElsewhere, isNextLife } from "./changed-sessions.js";
import { readDocument, removeDocument } from "./document/document-file.js";
import { DocumentKeeper } from "./document/document-keeper.js";
import { type ExportFormat, exportOf, type SessionExport } from "./document/export.js";
import { openStaleNotes, type StaleNotes, staleNotesName } from "./document/stale-notes.js";
import { PackedSessions } from "./folds/packed-sessions.js";
import { writePlanFile } from "./history/plan-file.js";
import { SessionList, type SessionPage, type SessionsWanted } from "./list/session-list.js";
import { keepFolds, type LoadPorts, loadSession, restoreFound } from "./load-session.js";
import { removeFolders } from "./remove-folders.js";
import { apply, type MutableSession, newSession, type ResidentSession, toStored } from "./resident-session.js";
import { ResidentSessions } from "./resident-sessions.js";
import type { DocumentMessage, SessionDocument, SessionSummary } from "./session.js";
import { SessionRepository, type StoredSession } from "./session-repository.js";
import { createFileStorage } from "./storage/file.js";
import { createStorageMark } from "./storage/mark.js";
import type { StorageDriver } from "./storage/storage.js";
import type { SessionStoreOptions } from "./store-options.js";

/** Those that a log may keep, also where the configuration leaves details out of it. */
const keptTypes = typesWhere(({ stored }) => stored);
const quietMs = 1000;

/** Brings sessions into memory, keeps their documents in a storage, and lists them. */
export class SessionStore implements AsyncDisposable {
  readonly #options: SessionStoreOptions;
  readonly #sessions: ResidentSessions;
  readonly #storage: StorageDriver;
  readonly #repository: SessionRepository;
  readonly #list: SessionList;
  readonly #documents: DocumentKeeper;
  readonly #deletions = new Map<string, Promise<void>>();
  readonly #stale: StaleNotes;
  /** Sessions that other nodes have gone on with, and that are not in memory here: the next list looks at them. */
  readonly #elsewhere = new Set<string>();
  /** Sessions with a document that waits to be written: what happens meanwhile will be in it. */
  readonly #waiting = new Set<string>();
  readonly #writing = new Set<Promise<void>>();
  /** What plan.json shows, where it was written by us. */
  readonly #plans = new WeakMap<MutableSession, PlanState | undefined>();
  #freshening: Promise<void> | undefined;
  #isFresh = false;
  readonly #freshenTimer: NodeJS.Timeout;
  readonly #unsubscribe: () => void;
  readonly #loading: LoadPorts;

  constructor(options: SessionStoreOptions) {
    this.#options = options;
    this.#sessions = new ResidentSessions(options.memory);
    const { files, engine, log, now = () => new Date() } = options;
    this.#loading = { files, engine, log, now, packed: new PackedSessions() };
    this.#storage = options.storage ?? createFileStorage(files, log);
    this.#repository = new SessionRepository(this.#storage, files);
    this.#list = new SessionList(this.#repository, this.#sessions, this.#deletions);
    this.#documents = new DocumentKeeper({
      repository: this.#repository,
      mark: createStorageMark(files.dir, options.storageId),
      engine,
      changed: options.changed,
      dir: files.dir,
      log,
      assertHeld: options.assertHeld,
      read: (key) => this.#read(key),
    });
    this.#stale = openStaleNotes(join(files.dir, staleNotesName), log);
    this.#unsubscribe = options.bus.on(keptTypes, (event) => this.#onEvent(event), { priority: 100 });
    this.#freshenTimer = setTimeout(() => void this.#freshen(), options.quietMs ?? quietMs).unref();
  }

  /** The session, read from its log if it is not in memory. A Go maxclaw's document becomes the log's first event. */
  async open(key: string): Promise<ResidentSession> {
    for (let deletion = this.#deletions.get(key); deletion !== undefined; deletion = this.#deletions.get(key))
      await deletion.catch(() => undefined);
    const known = this.#sessions.find(key);
    if (known !== undefined) {
      known.session.usedAt = Date.now();
      await known.ready;
      return known.session;
    }
    const session = newSession(key);
    const ready = loadSession(this.#loading, session);
    this.#sessions.add({ session, ready });
    try {
      await ready;
    } catch (error) {
      this.#sessions.delete(key);
      throw error;
    }
    // Reading a long log takes its time: only from here on is it at rest.
    session.usedAt = Date.now();
    this.#evict();
    return session;
  }

  /** True when the session has events, or a document from elsewhere. */
  async exists(key: string): Promise<boolean> {
    if ((this.#sessions.find(key)?.session.document.lastSequence ?? 0) > 0) return true;
    if (await this.#hasEvents(key)) return true;
    const reading = await readDocument(this.#options.files.documentPath(key));
    // One of ours without its log is what a deletion that was cut off left behind.
    const isOurs = reading.status === "ok" && Boolean(reading.document.metadata?.lastSequence);
    return reading.status === "ok" && reading.document.key === key && !isOurs;
  }

  /** A deleted session keeps its last sequence number, and has no events. */
  async #hasEvents(key: string): Promise<boolean> {
    try {
      return (await this.#options.engine.events(key, { afterSeq: 0, limit: 1 })).events.length > 0;
    } catch (error) {
      if (error instanceof EngineError && error.kind === "corrupt") return true;
      throw error;
    }
  }

  async document(key: string): Promise<SessionDocument> {
    return (await this.open(key)).document.toDocument();
  }

  /** The session as a file to take away. */
  async export(key: string, format: ExportFormat): Promise<SessionExport> {
    return exportOf(await this.document(key), format);
  }

  /** The messages of a session without bringing it into memory: a stored document may be a moment old. */
  async peek(key: string): Promise<readonly DocumentMessage[] | undefined> {
    const known = this.#sessions.find(key)?.session;
    const messages =
      known !== undefined && known.early === undefined
        ? known.document.toDocument().messages
        : await this.#repository.messages(key);
    // Up to the last answer: what is being asked just now is not past.
    return messages?.slice(0, messages.findLastIndex(({ role }) => role === "assistant") + 1);
  }

  /** The sessions, newest first: those in memory as they are now, others as their documents say. */
  async list(part: SessionsWanted = {}): Promise<readonly SessionSummary[]> {
    return (await this.page(part)).sessions;
  }

  /** A part of the list, and how many sessions are wanted in all. Only what is in the part is read. */
  async page(part: SessionsWanted): Promise<SessionPage> {
    await this.catchUp();
    return await this.#list.page(part);
  }

  /** The keys of those that are wanted, newest first. Reads nothing once the list is known. */
  async keys(isWanted: (key: string) => boolean): Promise<readonly string[]> {
    await this.catchUp();
    return this.#list.keys(isWanted);
  }

  /** What the list shows of these. */
  async summaries(keys: readonly string[]): Promise<ReadonlyMap<string, SessionSummary>> {
    await this.catchUp();
    return await this.#list.summaries(keys);
  }

  /** Of the newest event that is known without reading anything; 0 for a session that is not in the list. */
  lastSequence(key: string): number {
    return this.#list.lastSequenceOf(key);
  }

  /** Every session, and up to where its log reaches. */
  async reached(): Promise<Iterable<readonly [key: string, seq: number]>> {
    await this.catchUp();
    return this.#list.reached();
  }

  /** Resolves once what a crash or another storage left behind is written; the first list waits for it as well. */
  async catchUp(): Promise<void> {
    await this.#freshen();
    await this.#documents.caughtUp();
    if (this.#elsewhere.size === 0) return;
    const keys = [...this.#elsewhere];
    this.#elsewhere.clear();
    await this.#documents.freshen(keys);
  }

  /** One sentence for people while documents cannot be stored. */
  storageProblem(): string | undefined {
    return this.#documents.problem();
  }

  /** Resolves once the session is gone; who opens it meanwhile waits, and finds it empty. */
  async delete(key: string): Promise<void> {
    const deletion = this.#deletions.get(key) ?? this.#delete(key).finally(() => this.#deletions.delete(key));
    this.#deletions.set(key, deletion);
    await deletion;
  }

  /** Writes every document that is behind. */
  async flush(): Promise<void> {
    for (const session of this.#sessions.all()) if (session.changed) this.#write(session.key);
    await this.#documents.flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#freshenTimer);
    await this.#freshen();
    this.#unsubscribe();
    for (const session of this.#sessions.all()) {
      clearTimeout(session.timer);
      if (session.changed) this.#write(session.key);
    }
    await this.#documents[Symbol.asyncDispose]();
    this.#forgetStale();
    await this.#storage[Symbol.asyncDispose]();
    this.#sessions.clear();
  }

  /**
   * The document goes first: a crash before the log is gone leaves a whole session, one after it leaves nothing. What
   * the session's turn still writes until it is fenced stays in the log that goes.
   */
  async #delete(key: string): Promise<void> {
    const { engine, files } = this.#options;
    const known = this.#sessions.find(key);
    await known?.ready.catch(() => undefined);
    clearTimeout(known?.session.timer);
    await this.#documents.settled(key);
    try {
      await this.#repository.remove(key);
      // One from elsewhere, or from before the documents moved to another storage.
      await removeDocument(files.documentPath(key));
      await engine.deleteSession(key);
    } catch (error) {
      if (known !== undefined) this.#write(key);
      throw error;
    }
    clearTimeout(known?.session.timer);
    this.#sessions.delete(key);
    this.#loading.packed.forget(key);
    await this.#documents.write(key, () => undefined);
    await removeFolders(files, key).catch((error: unknown) => {
      // The next life of the session begins with another try.
      this.#options.log.warn(`Files of ${key} could not be deleted: ${messageOf(error)}`, { session: key });
    });
  }

  #onEvent(event: GatewayEvent): void {
    const { shared } = this.#options.changed;
    const { session_key: key } = event;
    const session = this.#sessions.find(key)?.session;
    const lastSequence = session?.document.lastSequence ?? 0;
    if (shared !== undefined && (isDeletedElsewhere(event, shared) || isNextLife(event, lastSequence))) {
      this.#forgetDeleted(key);
      return;
    }
    if (session === undefined) {
      if (shared !== undefined) this.#elsewhere.add(key);
      return;
    }
    if (!isStored(event)) {
      // Told, but not kept in the log where the configuration leaves details out.
      if (event.type === "agent_state_changed") session.agentState = event.payload.to;
      return;
    }
    if (session.early !== undefined) {
      session.early.push(event);
      return;
    }
    if (event.seq <= session.document.lastSequence) return;
    apply(session, event);
    if (!session.changed) this.#stale.add(session.key);
    session.changed = true;
    session.pace.note(event.payload);
    session.usedAt = Date.now();
    if (session.timer === undefined) this.#schedule(session);
  }

  /** Another node has deleted it, with its folders: here only what was made of it is left. A new life is read again. */
  #forgetDeleted(key: string): void {
    clearTimeout(this.#sessions.find(key)?.session.timer);
    this.#sessions.delete(key);
    this.#loading.packed.forget(key);
    void this.#documents.write(key, () => undefined).then(() => this.#elsewhere.add(key));
  }

  #schedule(session: MutableSession): void {
    const delayMs = this.#options.quietMs ?? quietMs;
    session.timer = setTimeout(() => {
      session.timer = undefined;
      const restMs = session.usedAt + delayMs - Date.now();
      const isBusy = restMs > 0 || session.openTurn.length > 0;
      if (isBusy || !session.pace.isDue(() => session.document.toDocument())) this.#schedule(session);
      else this.#write(session.key);
    }, delayMs);
    session.timer.unref();
  }

  /** One write of a session waits at a time: it takes the session as it is when its turn comes, and holds none of it in memory until then. */
  #write(key: string): void {
    if (this.#waiting.has(key)) return;
    this.#waiting.add(key);
    const { onBoundary } = this.#options;
    const take = async (): Promise<StoredSession | undefined> => {
      this.#waiting.delete(key);
      const session = this.#sessions.present(key) ?? this.#unpacked(key);
      if (session === undefined) return await this.#read(key);
      await this.#writePlan(session);
      await keepFolds(this.#loading, session);
      this.#loading.packed.noteFolded(key, session.logged.foldedSeq);
      session.changed = false;
      onBoundary?.("document:before-write");
      const stored = toStored(session);
      session.pace.written(stored.document);
      return stored;
    };
    const written = this.#documents.write(key, take).then(() => {
      onBoundary?.("document:after-write");
      // A storage that is away takes nothing.
      this.#waiting.delete(key);
      this.#writing.delete(written);
      this.#forgetStale();
      this.#evict();
    });
    this.#writing.add(written);
  }

  /** Of a session that has left memory since its document has to be written. */
  #unpacked(key: string): MutableSession | undefined {
    const found = this.#loading.packed.find(key);
    if (found === undefined) return undefined;
    const session = newSession(key);
    restoreFound(session, found);
    return session;
  }

  /** The session, from its log if need be. */
  async #read(key: string): Promise<StoredSession | undefined> {
    // Waiting for a deletion here would wait for ourselves: it waits for the writes of its session.
    if (this.#deletions.has(key)) return undefined;
    await this.open(key);
    const session = this.#sessions.find(key)?.session;
    if (session === undefined || session.document.lastSequence === 0) return undefined;
    await this.#writePlan(session);
    return toStored(session);
  }

  /** Before the document, so that one that is up to date means a plan that is. It can be made again: nobody fails for it. */
  async #writePlan(session: MutableSession): Promise<void> {
    const { current, isRecorded } = session.plan;
    if (!isRecorded || (this.#plans.has(session) && this.#plans.get(session) === current)) return;
    try {
      await writePlanFile(this.#options.files.kept(session.key), current, this.#loading.now());
      this.#plans.set(session, current);
    } catch (error) {
      this.#options.log.warn(`plan.json of ${session.key} could not be written: ${messageOf(error)}`, {
        session: session.key,
      });
    }
  }

  /** Once every document shows its log there is nothing to look after at the next start. */
  #forgetStale(): void {
    if (!this.#isFresh || this.#writing.size > 0 || this.#documents.problem() !== undefined) return;
    for (const session of this.#sessions.all()) if (session.changed) return;
    this.#stale.clear();
  }

  /**
   * After a crash some documents are behind their logs. Which ones, our own notes tell and the engine's journal: they
   * are written soon after the start, before the first list and before a stop.
   */
  #freshen(): Promise<void> {
    this.#freshening ??= this.#documents
      .freshen(new Set([...this.#stale.left, ...this.#options.changed.recentSessions()]))
      .then(() => {
        this.#isFresh = true;
        this.#forgetStale();
      });
    return this.#freshening;
  }

  #evict(): void {
    for (const session of this.#sessions.evict()) {
      clearTimeout(session.timer);
      if (session.changed) this.#write(session.key);
      this.#loading.packed.keep(session);
    }
  }
}
