import type { BudgetUsage, UsageReport } from "../budgets/report.js";
import type { Attachment, MessageMode } from "../bus/messages.js";
import type { HeldFiles, LedgerEntry } from "../engine/engine.js";
import type { Usage } from "../events/content.js";
import type { GatewayEvent, StoredEvent } from "../events/event.js";
import type { UploadRequest } from "../inbound/uploads.js";
import type { PairedSender, PairingRequest } from "../policy/pairing.js";
import type { SessionDocument, SessionSummary } from "../sessions/session.js";
import type { OpenedFile } from "../util/files/opened-file.js";
import type { CronApi } from "./cron-api.js";
import type { GatewayStatus } from "./gateway-status.js";
import type { McpApi } from "./mcp-api.js";
import type { SettingsApi } from "./settings/settings-api.js";
import type { SkillsApi } from "./skills-api.js";

export type { SessionDocument, SessionSummary } from "../sessions/session.js";

export interface SessionStatus {
  readonly sessionKey: string;
  /** The session's lifecycle. */
  readonly state: string;
  /** The machine's state. */
  readonly agentState: string;
  readonly isRunning: boolean;
  /** Above 1 when an earlier life of the session was deleted. */
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly currentMessageId?: string;
  readonly recovery?: {
    readonly canRecover: boolean;
    readonly streamExists: boolean;
    readonly recoverySource: "stream" | "journal" | "none";
    readonly missedEventsCount: number;
  };
}

/** What a session has used. */
export interface SessionUsage {
  /** All its life. */
  readonly usage: Usage;
  /** Of the answers whose price is known; absent when there are none. */
  readonly costUsd?: number | undefined;
  /** Answers whose price nobody knows. */
  readonly unpricedCalls: number;
  /** Guessed for answers that were cut, and in none of the other numbers; absent where there are none. */
  readonly guessedTokens?: number | undefined;
  readonly guessedUsd?: number | undefined;
  /** Since it began, or since the last `/new`: what `budgets.session` counts. */
  readonly conversation: {
    readonly turns: number;
    readonly calls: number;
    readonly usage: Usage;
    readonly costUsd: number;
    readonly unpricedCalls: number;
    readonly guessedTokens?: number | undefined;
    readonly guessedUsd?: number | undefined;
  };
  readonly budgets: readonly BudgetUsage[];
}

export interface SendRequest {
  readonly sessionKey: string;
  readonly content: string;
  readonly channel?: string | undefined;
  readonly chatId?: string | undefined;
  readonly selectedSkills?: readonly string[] | undefined;
  readonly attachments?: readonly Attachment[] | undefined;
  /** Makes the call safe to repeat. */
  readonly messageId?: string | undefined;
  readonly mode?: MessageMode | undefined;
}

/** What became of a sent message. */
export interface SendOutcome {
  /** Our id of the message, also for a repeated call. */
  readonly messageId: string;
  readonly status: "accepted" | "duplicate";
}

/** How the turn that took a message ended. */
export interface TurnOutcome {
  readonly end: "complete" | "failed" | "cancelled";
  /** The final text, with a remark below it where it was cut, or the sentence that the person was told. */
  readonly response: string;
  readonly turnId: string;
  /** Why a complete turn ended: `end_turn`, `max_tokens`, `max_iterations` … */
  readonly stopReason?: string;
  /** Tokens of all its model calls, where they are known. */
  readonly usage?: Usage;
}

/** The session that a copy was made of, and up to where. */
export interface ForkedFrom {
  readonly key: string;
  readonly seq: number;
}

export interface SkillSummary {
  readonly name: string;
  readonly description: string;
  readonly source: "workspace" | "bundled" | "user";
  readonly path: string;
  readonly enabled: boolean;
  /** The front matter's name, where it has one. */
  readonly displayName?: string;
  /** The front matter's `allowed-tools`: what the skill's author had in mind. It allows and forbids nothing. */
  readonly allowedTools?: readonly string[];
}

export interface SubscribeOptions {
  /** Events after this seq come first. Without it: from now on. */
  readonly fromSequence?: number | undefined;
  /** Only these types. */
  readonly types?: readonly string[] | undefined;
  /** Nothing is told before it resolves; what happens meanwhile is told then. */
  readonly after?: Promise<void> | undefined;
}

/** A question that waits for a person, as any client may show it. */
export interface WaitingQuestion {
  readonly sessionKey: string;
  readonly requestId: string;
  readonly kind: "clarification" | "decision" | "env_var" | "permission";
  readonly question: string;
  readonly options: readonly { readonly id: string; readonly label: string }[];
  /** Of a permission: whose yes counts. `asker`: also that of who asked. */
  readonly approver?: "asker" | "owner";
  /** Names of the secrets that are asked for. */
  readonly fields: readonly string[];
  readonly allowCustom: boolean;
  /** What would run, whole; for permissions. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** What the configuration and people have decided about tools. */
export interface PolicyView {
  readonly executionMode: "safe" | "ask" | "auto";
  readonly rules: readonly Readonly<Record<string, string>>[];
  /** What was answered with "always allow". */
  readonly grants: readonly {
    readonly id: string;
    readonly tool: string;
    /** Of a call its whole input, as JSON with sorted names. */
    readonly argument: string;
    /** Of a command: what it names in the workspace, by what that held then. */
    readonly files: readonly { readonly path: string; readonly sha256: string }[];
    /** As a session key. */
    readonly chat: string;
    /** `channel:sender` of who asked. */
    readonly for: string;
    readonly grantedBy: string;
    readonly grantedAt: string;
    /** Of an earlier version, which bound it to less: it allows nothing any more. */
    readonly isOld: boolean;
  }[];
}

/** Follows one session, `*` (all chats, live only) or `system`. */
export interface Subscription {
  /** Resolves with the session's last seq at the moment of joining; undefined for `*`. */
  readonly joinedAt: Promise<number | undefined>;
  /** Resolves once the past up to the moment of joining has been delivered. */
  readonly caughtUp: Promise<void>;
  close(): void;
}

/**
 * What the gateway can be asked to do; used by HTTP, WebSocket, the command line and the library. Whoever calls acts
 * as an owner: the caller has checked the token or the loopback rule. Methods throw {@link RequestError} for wrong
 * requests and {@link EngineError} when something cannot be stored.
 */
export interface GatewayApi {
  status(): GatewayStatus;
  /** True once the gateway takes messages and the disk takes writes. */
  isReady(): boolean;
  /** One sentence why it is not ready; undefined when it is. */
  whyNotReady(): string | undefined;

  listSessions(query: {
    readonly channel?: string | undefined;
    readonly chatId?: string | undefined;
    readonly limit: number;
    readonly offset: number;
  }): Promise<{ readonly sessions: readonly SessionSummary[]; readonly total: number }>;
  /** Creates the session, or says that it exists. Without a key: `webui:<8 hex>`. */
  createSession(options: {
    readonly key?: string | undefined;
    readonly title?: string | undefined;
    readonly model?: string | undefined;
    /** A folder of the workspace: commands begin there, and the assistant is told. */
    readonly cwd?: string | undefined;
  }): Promise<{ readonly key: string; readonly reused: boolean }>;
  /** @throws {RequestError} 404 */
  getSession(key: string): Promise<SessionDocument>;
  /** @throws {RequestError} 404 */
  deleteSession(key: string): Promise<void>;
  /** @throws {RequestError} 404 */
  renameSession(key: string, title: string): Promise<void>;
  /** Ends the running turn, if any. Resolves with whether there was one. @throws {RequestError} 404 */
  stopTurn(key: string): Promise<{ readonly stopped: boolean }>;
  /**
   * Ends the running turn, and with it the session: what waited is cancelled, and nothing more is taken but `/new`.
   *
   * @throws {RequestError} 404; 409 with the state where nothing is running
   */
  abortSession(key: string): Promise<void>;
  /** Ends a session that is idle. @throws {RequestError} 404; 409 with the state where it is not */
  completeSession(key: string): Promise<void>;
  /**
   * Begins a new session, `webui:fork-<8 hex>`, with the events up to `at` (default: all). What waits stays behind, and a
   * turn that was not over by then is ended in the copy.
   *
   * @throws {RequestError} 404; 400 for a sequence number that the session does not have; 413 when it is too long
   */
  forkSession(key: string, at: number | undefined): Promise<{ readonly key: string; readonly forkedFrom: ForkedFrom }>;
  sessionStatus(
    key: string,
    options: { readonly includeRecovery: boolean; readonly fromSequence?: number },
  ): Promise<SessionStatus>;

  /** @throws {RequestError} 404 */
  sessionUsage(key: string): Promise<SessionUsage>;
  /** What the last days have used, today included. */
  usage(days: number): UsageReport;

  /** Resolves once the message is durable. @throws {RequestError} 400 empty or too long, 409 with the state of a session that is over, or `id_used` where another session has taken a message of this id, 429 busy */
  send(request: SendRequest): Promise<SendOutcome>;
  /** Resolves when the turn that holds this message ends; rejects when `signal` aborts. */
  waitForTurn(sessionKey: string, messageId: string, signal: AbortSignal): Promise<TurnOutcome>;

  /** Events with seq > fromSequence. */
  events(
    key: string,
    range: { readonly fromSequence: number; readonly limit: number },
  ): Promise<{ readonly events: readonly StoredEvent[]; readonly hasMore: boolean }>;
  /**
   * Calls `listener` with each event of the session after `fromSequence`, stored ones in seq order without a gap or a
   * repeat, then live. In the middle of a streamed answer it first gets message_stream_start and one text_delta with
   * the text so far. Internal events are left out. A promise that the listener returns is awaited while the past is
   * replayed, so that a slow reader is not flooded; live events never wait.
   *
   * @throws {RequestError} 400 for what is no session key
   */
  subscribe(
    target: string,
    options: SubscribeOptions,
    listener: (event: GatewayEvent) => void | Promise<void>,
  ): Subscription;

  /**
   * A file that the people of a session were given, by the id that `artifact_state_changed` tells. Whoever opens it
   * closes its handle.
   *
   * @throws {RequestError} 404
   */
  openArtifact(sessionKey: string, artifactId: string): Promise<OpenedFile>;
  /**
   * Keeps a file for the `attachments` of a message that is sent later. Resolves once it is durable; one that does not
   * come whole leaves nothing behind.
   *
   * @throws {RequestError} 413 when it is larger than `inbound.maxFileMegabytes`, 507 on a full disk, 503 when the disk fails
   */
  upload(file: UploadRequest): Promise<Attachment>;
  /**
   * An uploaded file, by the last part of its path. The caller closes it.
   *
   * @throws {RequestError} 404
   */
  openUpload(name: string): Promise<OpenedFile>;
  listSkills(): Promise<readonly SkillSummary[]>;
  /** @throws {RequestError} 404 */
  getSkill(name: string): Promise<SkillSummary & { readonly content: string }>;

  listPairings(): { readonly waiting: readonly PairingRequest[]; readonly paired: readonly PairedSender[] };
  /** @throws {RequestError} 404 for an unknown or expired code, 429 after too many wrong ones */
  approvePairing(code: string): Promise<PairedSender>;
  /** @throws {RequestError} 404 */
  revokePairing(channel: string, senderId: string): Promise<void>;

  listQuestions(): readonly WaitingQuestion[];
  /**
   * Answers a question as its owner: by an option's id, number or label, by one's own words where they are allowed, or
   * with the values of secrets. Resolves with the answer as it is told, once it is durable.
   *
   * @throws {RequestError} 404 no such question, 409 closed already, 400 no possible answer
   */
  answerQuestion(request: {
    readonly sessionKey: string;
    readonly requestId: string;
    readonly answer?: string | undefined;
    readonly values?: Readonly<Record<string, string>> | undefined;
  }): Promise<{ readonly answer: string }>;

  policy(): PolicyView;
  /** Takes an "always allow" back. @throws {RequestError} 404 */
  revokeGrant(id: string): Promise<void>;

  /** Switches and installs skills. */
  readonly skills: SkillsApi;

  /** The scheduled jobs. */
  readonly cron: CronApi;

  /** The servers that tools come from, where there can be some. */
  readonly mcp?: McpApi;

  /** The config, and files that steer the assistant, for a page of settings. */
  readonly settings?: SettingsApi;

  ledger(): Promise<readonly LedgerEntry[]>;
  /** Keeps the gateway's files as they are until the result is disposed, for a copy or a check by a command. */
  holdFiles?(): Promise<HeldFiles>;
  /** Counters in the text format of Prometheus; empty when they are switched off. */
  metrics?(): string;
}
