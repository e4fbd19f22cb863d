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
    async sendMessage({ sessionKey, content, messageId = newMessageId(), chatId, selectedSkills, attachments, mode }) {
      const payload = {
        session_key: sessionKey,
        content,
        message_id: messageId,
        chat_id: chatId,
        selected_skills: selectedSkills,
        attachments,
        mode,
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
  list(name: string): readonly Reader[];
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
