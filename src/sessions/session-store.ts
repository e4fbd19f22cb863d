import { rm } from "node:fs/promises";
import { basename } from "node:path";
import type { Engine } from "../engine/engine.js";
import { EngineError, messageOf } from "../errors.js";
import type { AgentState } from "../events/catalogue.js";
import { draft, type GatewayEvent, isStored, type StoredEvent } from "../events/event.js";
import type { EventConsumer } from "../events/system-bus.js";
import type { Logger } from "../log.js";
import { newId } from "../util/ids.js";
import { DocumentFold, roleOf } from "./document.js";
import { type FoundDocument, readDocument, setAside, writeDocument } from "./document-file.js";
import type { SessionFiles } from "./file-names.js";
import { History } from "./history.js";
import type { DocumentMessage, SessionDocument, SessionSummary } from "./session.js";
import { createSessionIndex, newestFirst } from "./session-index.js";

const pageSize = 1000;

/** A session in memory: everything in it is a fold over its events, kept up to date while it lives here. */
export interface ResidentSession {
  readonly key: string;
  /** A new one each time the session comes into memory. */
  readonly agentId: string;
  readonly history: History;
  readonly document: DocumentFold;
  /** The machine's state as last told. */
  readonly agentState: AgentState;
  /** Stored events of the last turn that has begun; empty once it has ended. */
  readonly openTurn: readonly StoredEvent[];
  readonly lastSequence: number;
  /** Event ids of the accepted messages whose turn has not ended, by message id. */
  readonly queuedEvents: ReadonlyMap<string, string>;
  /** The model that was chosen for this session, if one was. */
  readonly model: string | undefined;
}

interface MutableSession extends ResidentSession {
  agentState: AgentState;
  openTurn: StoredEvent[];
  lastSequence: number;
  readonly queuedEvents: Map<string, string>;
  model: string | undefined;
  /** Events that arrived while the past was being read. */
  early: StoredEvent[] | undefined;
  changed: boolean;
  usedAt: number;
  timer: NodeJS.Timeout | undefined;
}

export interface SessionStoreOptions {
  readonly engine: Pick<Engine, "events" | "append" | "lastSequence" | "deleteSession" | "recentSessions">;
  readonly bus: EventConsumer;
  readonly files: SessionFiles;
  readonly log: Logger;
  /** Documents are written this long after a session's last change. Default 1000. */
  readonly quietMs?: number;
  /** Sessions at rest leave memory beyond this number. Default 200. */
  readonly maxResident?: number;
  readonly now?: () => Date;
}

/** Brings sessions into memory, keeps their documents on disk, and lists them. */
export class SessionStore implements AsyncDisposable {
  readonly #options: SessionStoreOptions;
  readonly #sessions = new Map<string, { readonly session: MutableSession; readonly ready: Promise<void> }>();
  readonly #index;
  /** The last write of each document that is under way: a later one waits for it. */
  readonly #writes = new Map<string, Promise<void>>();
  readonly #deletions = new Map<string, Promise<void>>();
  #caughtUp: Promise<void> | undefined;
  readonly #unsubscribe: () => void;
  readonly #now: () => Date;

  constructor(options: SessionStoreOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => new Date());
    this.#index = createSessionIndex(options.files.dir, options.log);
    this.#unsubscribe = options.bus.onAny((event) => this.#onEvent(event), { priority: 100 });
  }

  /** The session, read from its log if it is not in memory. A Go maxclaw's document becomes the log's first event. */
  async open(key: string): Promise<ResidentSession> {
    for (let deletion = this.#deletions.get(key); deletion !== undefined; deletion = this.#deletions.get(key))
      await deletion.catch(() => undefined);
    const known = this.#sessions.get(key);
    if (known !== undefined) {
      known.session.usedAt = Date.now();
      await known.ready;
      return known.session;
    }
    const session = newSession(key);
    const ready = this.#load(session);
    this.#sessions.set(key, { session, ready });
    try {
      await ready;
    } catch (error) {
      this.#sessions.delete(key);
      throw error;
    }
    this.#evict();
    return session;
  }

  /** True when the session has events, or a document from elsewhere. */
  async exists(key: string): Promise<boolean> {
    if ((this.#sessions.get(key)?.session.lastSequence ?? 0) > 0) return true;
    if (await this.#hasEvents(key)) return true;
    const reading = await readDocument(this.#options.files.documentPath(key));
    return reading.status === "ok" && reading.document.key === key;
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

  /** The messages of a session without bringing it into memory: a document on disk may be a moment old. */
  async peek(key: string): Promise<readonly DocumentMessage[] | undefined> {
    const known = this.#sessions.get(key)?.session;
    if (known !== undefined && known.early === undefined) return answered(known.document.toDocument().messages);
    const reading = await readDocument(this.#options.files.documentPath(key));
    if (reading.status !== "ok" || reading.document.key !== key) return undefined;
    return answered((reading.document.messages ?? []).map(toMessage));
  }

  /** Newest first; sessions in memory as they are now, others as their documents say. */
  async list(): Promise<readonly SessionSummary[]> {
    this.#caughtUp ??= this.#catchUp();
    await this.#caughtUp;
    const stored = await this.#index.list();
    const all = new Map(stored.map((summary) => [summary.key, summary]));
    for (const { session } of this.#sessions.values())
      if (session.early === undefined && session.lastSequence > 0) all.set(session.key, summaryOf(session));
    return [...all.values()].filter(({ key }) => !this.#deletions.has(key)).sort(newestFirst);
  }

  /** Resolves once the session is gone; who opens it meanwhile waits, and finds it empty. */
  async delete(key: string): Promise<void> {
    const deletion = this.#deletions.get(key) ?? this.#delete(key).finally(() => this.#deletions.delete(key));
    this.#deletions.set(key, deletion);
    await deletion;
  }

  /** Writes every document that is behind. */
  async flush(): Promise<void> {
    for (const { session } of this.#sessions.values()) if (session.changed) this.#write(session);
    await Promise.all(this.#writes.values());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#unsubscribe();
    await this.flush();
    for (const { session } of this.#sessions.values()) clearTimeout(session.timer);
    this.#sessions.clear();
  }

  /**
   * The document goes first: a crash before the log is gone leaves a whole session, one after it leaves nothing. What
   * the session's turn still writes until it is fenced stays in the log that goes.
   */
  async #delete(key: string): Promise<void> {
    const { engine, files } = this.#options;
    const known = this.#sessions.get(key);
    await known?.ready.catch(() => undefined);
    clearTimeout(known?.session.timer);
    const path = files.documentPath(key);
    await this.#writes.get(path);
    try {
      await rm(path, { force: true });
      await engine.deleteSession(key);
    } catch (error) {
      if (known !== undefined) this.#write(known.session);
      throw error;
    }
    clearTimeout(known?.session.timer);
    this.#sessions.delete(key);
    await this.#writes.get(path);
    await rm(path, { force: true });
    await rm(files.folder(key), { recursive: true, force: true });
    await this.#index.remove(key);
  }

  /** After a crash some documents are behind their logs or missing: they are written before the first list. */
  async #catchUp(): Promise<void> {
    const { engine, log } = this.#options;
    for (const key of new Set([...engine.recentSessions(), ...(await this.#index.undocumented())])) {
      if (key.startsWith("system:") || this.#sessions.has(key)) continue;
      try {
        if ((await this.#index.lastSequence(key)) === (await engine.lastSequence(key))) continue;
        await this.open(key);
        const session = this.#sessions.get(key)?.session;
        if (session !== undefined && session.lastSequence > 0) this.#write(session);
      } catch (error) {
        log.warn(`${key} could not be read for the list of sessions: ${messageOf(error)}`, { session: key });
      }
    }
  }

  async #load(session: MutableSession): Promise<void> {
    const { engine } = this.#options;
    let hasImport = false;
    let afterSeq = 0;
    for (;;) {
      const page = await engine.events(session.key, { afterSeq, limit: pageSize });
      for (const event of page.events) {
        if (session.lastSequence > 0 && event.seq !== session.lastSequence + 1)
          this.#options.log.error(
            `${session.key}: the events ${session.lastSequence + 1} to ${event.seq - 1} are missing`,
          );
        hasImport ||= event.type === "session_history_changed" && event.payload.kind === "import";
        apply(session, event);
      }
      afterSeq = page.events.at(-1)?.seq ?? afterSeq;
      if (!page.hasMore) break;
    }
    if (!hasImport) await this.#takeOverDocument(session.key);
    for (const event of session.early ?? []) if (event.seq > session.lastSequence) apply(session, event);
    session.early = undefined;
  }

  async #takeOverDocument(key: string): Promise<void> {
    const { engine, files, log } = this.#options;
    const path = files.documentPath(key);
    const reading = await readDocument(path);
    if (reading.status === "broken") {
      const aside = await setAside(path, this.#now());
      log.warn(`${path} could not be read and was set aside as ${basename(aside)}: ${reading.why}`, { session: key });
      return;
    }
    // A message may have been accepted before anybody opened the session: the older history still comes in.
    if (reading.status === "missing" || reading.document.key !== key || reading.document.metadata?.lastSequence) return;
    const messages = (reading.document.messages ?? []).map((message) => ({
      role: message.role,
      content: message.content ?? "",
      ...(message.timestamp ? { timestamp: message.timestamp } : {}),
    }));
    if (messages.length === 0) return;
    await engine.append(key, [draft("session_history_changed", { kind: "import", messages }, { source: "gateway" })], {
      durable: true,
    });
    log.info(`Took over ${messages.length} messages from ${path}`, { session: key });
  }

  #onEvent(event: GatewayEvent): void {
    const session = this.#sessions.get(event.session_key)?.session;
    if (session === undefined) return;
    if (!isStored(event)) {
      // Told, but not kept in the log where the configuration leaves details out.
      if (event.type === "agent_state_changed") session.agentState = event.payload.to;
      return;
    }
    if (session.early !== undefined) {
      session.early.push(event);
      return;
    }
    if (event.seq <= session.lastSequence) return;
    apply(session, event);
    session.changed = true;
    session.usedAt = Date.now();
    if (session.timer === undefined) this.#schedule(session);
  }

  #schedule(session: MutableSession): void {
    const quietMs = this.#options.quietMs ?? 1000;
    session.timer = setTimeout(() => {
      session.timer = undefined;
      const restMs = session.usedAt + quietMs - Date.now();
      if (restMs > 0 || session.openTurn.length > 0) this.#schedule(session);
      else this.#write(session);
    }, quietMs);
    session.timer.unref();
  }

  #write(session: MutableSession): void {
    const { files, log } = this.#options;
    session.changed = false;
    const path = files.documentPath(session.key);
    const before = this.#writes.get(path) ?? Promise.resolve();
    const writing = before
      .then(async () => {
        const { document } = session;
        const summary = summaryOf(session);
        const { lastSequence } = document;
        await writeDocument(path, document.toDocument());
        await this.#index.put(summary, { file: basename(path), lastSequence });
      })
      .catch((error: unknown) => {
        // The document is only a view of the log: the next change writes it again.
        session.changed = true;
        log.error(`${path} could not be written: ${messageOf(error)}`, { session: session.key });
      })
      .finally(() => {
        if (this.#writes.get(path) === writing) this.#writes.delete(path);
      });
    this.#writes.set(path, writing);
  }

  #evict(): void {
    const limit = this.#options.maxResident ?? 200;
    if (this.#sessions.size <= limit) return;
    const atRest = [...this.#sessions.values()]
      .map(({ session }) => session)
      .filter(
        (session) => session.early === undefined && session.openTurn.length === 0 && Date.now() - session.usedAt > 5000,
      )
      .sort((a, b) => a.usedAt - b.usedAt);
    for (const session of atRest.slice(0, this.#sessions.size - limit)) {
      clearTimeout(session.timer);
      if (session.changed) this.#write(session);
      this.#sessions.delete(session.key);
    }
  }
}

function newSession(key: string): MutableSession {
  return {
    key,
    agentId: newId("agent"),
    history: new History(),
    document: new DocumentFold(key),
    agentState: "idle",
    openTurn: [],
    lastSequence: 0,
    queuedEvents: new Map(),
    model: undefined,
    early: [],
    changed: false,
    usedAt: Date.now(),
    timer: undefined,
  };
}

function apply(session: MutableSession, event: StoredEvent): void {
  session.lastSequence = event.seq;
  session.history.apply(event);
  session.document.apply(event);
  if (event.type === "agent_state_changed") session.agentState = event.payload.to;
  if (event.type === "user_message_queued") session.queuedEvents.set(event.payload.message_id, event.event_id);
  if (event.type === "error_occurred" && event.correlation_id !== undefined && !event.payload.recoverable)
    session.queuedEvents.delete(event.correlation_id);
  if (event.type === "settings_changed" && event.payload.key === "model") session.model = event.payload.to || undefined;
  if (event.type === "turn_execution_start" && session.openTurn[0]?.turn_id !== event.turn_id) session.openTurn = [];
  if (event.turn_id === undefined) return;
  if (
    event.type === "turn_execution_complete" ||
    event.type === "turn_execution_failed" ||
    event.type === "turn_execution_cancelled"
  ) {
    session.openTurn = [];
    for (const id of event.payload.message_ids) session.queuedEvents.delete(id);
  } else if (event.type === "turn_execution_start" || session.openTurn[0]?.turn_id === event.turn_id)
    session.openTurn.push(event);
}

function summaryOf(session: ResidentSession): SessionSummary {
  const { title, summary, messageCount, lastMessage } = session.document;
  return {
    key: session.key,
    ...(title === undefined ? {} : { title }),
    ...(summary === undefined ? {} : { summary }),
    messageCount,
    ...(lastMessage === undefined
      ? {}
      : { lastMessageAt: lastMessage.timestamp, lastMessage: lastMessage.content.slice(0, 200) }),
  };
}

type FoundMessage = NonNullable<FoundDocument["messages"]>[number];

function toMessage({ role, content, timestamp }: FoundMessage): DocumentMessage {
  return { role: roleOf(role), content: content ?? "", timestamp: timestamp ?? "" };
}

/** Up to the last answer: what is being asked just now is no past. */
function answered(messages: readonly DocumentMessage[]): readonly DocumentMessage[] {
  return messages.slice(0, messages.findLastIndex(({ role }) => role === "assistant") + 1);
}
