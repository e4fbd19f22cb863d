import { ClientError } from "./client-error.js";
import { isRecord } from "./frames.js";
import type { UploadedFile } from "./upload.js";

export interface SendMessage {
  readonly sessionKey: string;
  readonly content: string;
  /** 8 to 128 letters, digits or `. : _ -`. Sending the same id again changes nothing. Default: a fresh one. */
  readonly messageId?: string | undefined;
  readonly chatId?: string | undefined;
  readonly selectedSkills?: readonly string[] | undefined;
  /** What `upload` resolved with. At most 20. */
  readonly attachments?: readonly UploadedFile[] | undefined;
  /**
   * For a message that comes while a turn runs: `next` waits for its end, `append` joins it, `cancel` ends it. Default
   * `next`.
   */
  readonly mode?: "next" | "append" | "cancel" | undefined;
  /** For a session that is a chat on a platform: the answer is sent there too. Default false. */
  readonly alsoToChat?: boolean | undefined;
}

export interface SentMessage {
  readonly messageId: string;
  readonly sessionKey: string;
  /** `duplicate`: the gateway had it already. */
  readonly status: "accepted" | "duplicate";
}

export interface OpenSession {
  /** Default: a new one. */
  readonly sessionKey?: string | undefined;
  readonly title?: string | undefined;
  readonly model?: string | undefined;
  /** The folder that its tools start in. */
  readonly cwd?: string | undefined;
}

export interface ListSessions {
  readonly channel?: string | undefined;
  readonly chatId?: string | undefined;
  /** 1 to 1000, default 200. */
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  /** Only those that are archived, only those that are not, or all. Default `all`. */
  readonly archived?: "true" | "false" | "all" | undefined;
  /** The same for pinned ones. */
  readonly pinned?: "true" | "false" | "all" | undefined;
}

export interface SearchSessions {
  /** Words that must all be there, and "phrases in quotes". */
  readonly query: string;
  /** 1 to 100, default 20. */
  readonly limit?: number | undefined;
  /** The `next` of an earlier page. */
  readonly before?: string | undefined;
  readonly channel?: string | undefined;
  readonly sessionKey?: string | undefined;
}

export interface SearchHit {
  readonly sessionKey: string;
  readonly channel: string;
  readonly title?: string;
  /** The event that holds the text. */
  readonly seq: number;
  readonly messageId?: string;
  readonly who: "user" | "assistant" | "title";
  /** ISO 8601. */
  readonly at: string;
  readonly snippet: string;
  /** Where in the snippet the words are: `[from, to)`, in UTF-16 units. */
  readonly ranges: readonly (readonly [number, number])[];
}

export interface SearchPage {
  /** Newest first. */
  readonly hits: readonly SearchHit[];
  /** For `before`; absent on the last page. */
  readonly next?: string;
  /** False while older conversations are still being read for the first time. */
  readonly isComplete: boolean;
}

/** How the owner keeps a session. */
export interface SessionMarks {
  readonly pinned: boolean;
  readonly archived: boolean;
  /** The last event that was read; absent where nothing was read yet. */
  readonly readSeq?: number;
}

export interface SessionEntry {
  readonly key: string;
  readonly title?: string;
  readonly messageCount: number;
  /** ISO 8601. */
  readonly lastMessageAt?: string;
  /** At most 200 characters. */
  readonly lastMessage?: string;
  /** The first user text, 100 characters. */
  readonly summary?: string;
  readonly pinned: boolean;
  readonly archived: boolean;
  /** Messages that nobody has read. */
  readonly unread: number;
  /** For `markRead`. */
  readonly lastSequence: number;
}

export interface SessionStatus {
  readonly sessionKey: string;
  /** Of the session's life, e.g. `active`. */
  readonly state: string;
  /** What the agent does right now, e.g. `thinking`. */
  readonly agentState: string;
  readonly isRunning: boolean;
  readonly lastSequence: number;
  /** The answer that is being written. */
  readonly currentMessageId?: string;
  readonly recovery?: {
    readonly canRecover: boolean;
    readonly streamExists: boolean;
    readonly recoverySource: "stream" | "journal" | "none";
    readonly missedEventsCount: number;
  };
}

/** What a client can ask of the gateway. All reject with {@link ClientError}. */
export interface Commands {
  /**
   * Resolves once the message is stored: from then on it is answered, whatever happens. When the connection is lost
   * before that, it is sent again under the same id.
   */
  sendMessage(message: SendMessage): Promise<SentMessage>;
  /** Ends the running turn; resolves with whether there was one. */
  cancelTurn(sessionKey: string): Promise<{ readonly stopped: boolean }>;
  /** Creates a session, or says that it exists. */
  openSession(session?: OpenSession): Promise<{ readonly sessionKey: string; readonly reused: boolean }>;
  /** The one with the newest message first. */
  listSessions(query?: ListSessions): Promise<{ readonly sessions: readonly SessionEntry[]; readonly total: number }>;
  /** For good, with what still waits in it. */
  deleteSession(sessionKey: string): Promise<void>;
  setTitle(sessionKey: string, title: string): Promise<void>;
  /** What was said in all sessions, newest first. */
  searchSessions(query: SearchSessions): Promise<SearchPage>;
  /** Pins or archives, or takes that back. All clients get `session_marks_changed`. */
  setMarks(
    sessionKey: string,
    marks: { readonly pinned?: boolean | undefined; readonly archived?: boolean | undefined },
  ): Promise<SessionMarks>;
  /** The owner has read up to this event. It never goes back. */
  markRead(sessionKey: string, seq: number): Promise<SessionMarks>;
  abortSession(sessionKey: string): Promise<void>;
  completeSession(sessionKey: string): Promise<void>;
  /** `recovery` counts what was missed after `fromSequence`, default 0. */
  sessionStatus(
    sessionKey: string,
    options?: { readonly includeRecovery?: boolean; readonly fromSequence?: number },
  ): Promise<SessionStatus>;
}

type Command = (type: string, payload: object) => Promise<unknown>;

export function createCommands(command: Command): Commands {
  const onSession = async (type: string, sessionKey: string, more: object = {}): Promise<void> => {
    await command(type, { session_key: sessionKey, ...more });
  };

  return {
    async sendMessage({ sessionKey, messageId = newMessageId(), chatId, selectedSkills, alsoToChat, ...rest }) {
      const payload = {
        ...rest,
        session_key: sessionKey,
        message_id: messageId,
        chat_id: chatId,
        selected_skills: selectedSkills,
        also_to_chat: alsoToChat,
      };
      for (;;) {
        try {
          const read = reader(await command("message_send", payload));
          const status = read.text("status") === "duplicate" ? "duplicate" : "accepted";
          return { messageId: read.text("message_id"), sessionKey, status };
        } catch (error) {
          if (!(error instanceof ClientError && error.kind === "lost")) throw error;
        }
      }
    },
    async cancelTurn(sessionKey) {
      return { stopped: reader(await command("turn_cancel", { session_key: sessionKey })).flag("stopped") };
    },
    async openSession({ sessionKey, ...rest } = {}) {
      const read = reader(await command("session_open", { session_key: sessionKey, ...rest }));
      return { sessionKey: read.text("session_key"), reused: read.flag("reused") };
    },
    async listSessions({ chatId, ...rest } = {}) {
      const read = reader(await command("session_list", { chat_id: chatId, ...rest }));
      return { sessions: read.list("sessions").map(toEntry), total: read.count("total") };
    },
    deleteSession: (sessionKey) => onSession("session_delete", sessionKey),
    async searchSessions({ sessionKey, ...rest }) {
      return toPage(reader(await command("session_search", { ...rest, session_key: sessionKey })));
    },
    async setMarks(sessionKey, marks) {
      return toMarks(reader(await command("session_marks_set", { session_key: sessionKey, ...marks })));
    },
    async markRead(sessionKey, seq) {
      return toMarks(reader(await command("session_read", { session_key: sessionKey, seq })));
    },
    setTitle: (sessionKey, title) => onSession("session_title_set", sessionKey, { title }),
    abortSession: (sessionKey) => onSession("session_abort", sessionKey),
    completeSession: (sessionKey) => onSession("session_complete", sessionKey),
    async sessionStatus(sessionKey, { includeRecovery, fromSequence } = {}) {
      const payload = { session_key: sessionKey, include_recovery: includeRecovery, from_sequence: fromSequence };
      return toStatus(reader(await command("session_status", payload)));
    },
  };
}

/** A fresh id for a message: `msg_` and 20 hex digits. */
export function newMessageId(): string {
  const bytes = [...crypto.getRandomValues(new Uint8Array(10))];
  return `msg_${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

function toEntry(read: Reader): SessionEntry {
  return {
    key: read.text("key"),
    messageCount: read.count("messageCount"),
    ...read.texts("title", "lastMessageAt", "lastMessage", "summary"),
    pinned: read.flag("pinned"),
    archived: read.flag("archived"),
    unread: read.count("unread"),
    lastSequence: read.count("lastSequence"),
  };
}

function toPage(read: Reader): SearchPage {
  const next = read.texts("next").next;
  return {
    hits: read.list("hits").map(toHit),
    ...(next === undefined ? {} : { next }),
    isComplete: read.flag("is_complete"),
  };
}

function toHit(read: Reader): SearchHit {
  const who = read.text("who");
  return {
    sessionKey: read.text("sessionKey"),
    channel: read.text("channel"),
    seq: read.count("seq"),
    who: who === "user" || who === "title" ? who : "assistant",
    at: read.text("at"),
    snippet: read.text("snippet"),
    ranges: read.pairs("ranges"),
    ...read.texts("title", "messageId"),
  };
}

function toMarks(read: Reader): SessionMarks {
  const readSeq = read.optional("read_seq");
  return {
    pinned: read.flag("pinned"),
    archived: read.flag("archived"),
    ...(readSeq === undefined ? {} : { readSeq }),
  };
}

function toStatus(read: Reader): SessionStatus {
  const currentMessageId = read.texts("current_message_id").current_message_id;
  const recovery = read.part("recovery");
  const source = recovery?.text("recovery_source");
  return {
    sessionKey: read.text("session_key"),
    state: read.text("state"),
    agentState: read.text("agent_state"),
    isRunning: read.flag("is_running"),
    lastSequence: read.count("last_sequence"),
    ...(currentMessageId === undefined ? {} : { currentMessageId }),
    ...(recovery === undefined
      ? {}
      : {
          recovery: {
            canRecover: recovery.flag("can_recover"),
            streamExists: recovery.flag("stream_exists"),
            recoverySource: source === "stream" || source === "journal" ? source : "none",
            missedEventsCount: recovery.count("missed_events_count"),
          },
        }),
  };
}

/** Takes the fields of an answer out by name and kind; throws where one is missing. */
interface Reader {
  text(name: string): string;
  count(name: string): number;
  flag(name: string): boolean;
  /** Where it is there. */
  optional(name: string): number | undefined;
  list(name: string): readonly Reader[];
  pairs(name: string): readonly (readonly [number, number])[];
  part(name: string): Reader | undefined;
  /** Those that are there. */
  texts<N extends string>(...names: readonly N[]): { readonly [K in N]?: string };
}

function reader(data: unknown): Reader {
  const fields = isRecord(data) ? data : {};
  const missing = (name: string): ClientError =>
    new ClientError("garbled", `The gateway's answer has no ${name}. Is it of the same version?`);
  return {
    text(name) {
      const value = fields[name];
      if (typeof value !== "string") throw missing(name);
      return value;
    },
    count(name) {
      const value = fields[name];
      if (typeof value !== "number") throw missing(name);
      return value;
    },
    flag(name) {
      const value = fields[name];
      if (typeof value !== "boolean") throw missing(name);
      return value;
    },
    list(name) {
      const value = fields[name];
      if (!Array.isArray(value)) throw missing(name);
      return value.map(reader);
    },
    optional(name) {
      const value = fields[name];
      return typeof value === "number" ? value : undefined;
    },
    pairs(name) {
      const value = fields[name];
      if (!Array.isArray(value)) throw missing(name);
      return value.map((pair: unknown) => {
        const [from, to]: unknown[] = Array.isArray(pair) ? pair : [];
        if (typeof from !== "number" || typeof to !== "number") throw missing(name);
        return [from, to];
      });
    },
    part: (name) => (isRecord(fields[name]) ? reader(fields[name]) : undefined),
    texts<N extends string>(...names: readonly N[]) {
      const found: { [K in N]?: string } = {};
      for (const name of names) {
        const value = fields[name];
        if (typeof value === "string") found[name] = value;
      }
      return found;
    },
  };
}
