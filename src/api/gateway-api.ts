import type { Attachment, MessageMode } from "../bus/messages.js";
import type { LedgerEntry } from "../engine/engine.js";
import type { GatewayEvent, StoredEvent } from "../events/event.js";
import type { SessionDocument, SessionSummary } from "../sessions/session.js";

export type { SessionDocument, SessionSummary } from "../sessions/session.js";

export interface SessionStatus {
  readonly sessionKey: string;
  /** The session's lifecycle. */
  readonly state: string;
  /** The machine's state. */
  readonly agentState: string;
  readonly isRunning: boolean;
  readonly lastSequence: number;
  readonly currentMessageId?: string;
  readonly recovery?: {
    readonly canRecover: boolean;
    readonly streamExists: boolean;
    readonly recoverySource: "stream" | "journal" | "none";
    readonly missedEventsCount: number;
  };
}

export interface ChannelStatus {
  readonly name: string;
  readonly state: "connecting" | "connected" | "reconnecting" | "disconnected" | "off";
  /** Why it is off or not connected. */
  readonly reason?: string;
}

export interface GatewayStatus {
  readonly version: string;
  readonly state: "starting" | "ready" | "draining" | "stopped";
  readonly instanceId: string;
  readonly pid: number;
  readonly startedAt: string;
  readonly home: string;
  readonly workspace: string;
  readonly model: string;
  readonly provider: string;
  readonly channels: readonly ChannelStatus[];
  /** What is wrong or off, each as one sentence: config sections, channels that do not exist yet, a full disk. */
  readonly problems: readonly string[];
  readonly inboundWaiting: number;
  readonly outboundWaiting: number;
  readonly deadLetters: number;
  readonly rssBytes: number;
  /** fdatasyncs that somebody waited for, since the start. */
  readonly syncs?: number;
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
  /** The final text, or the sentence that the person was told. */
  readonly response: string;
  readonly turnId: string;
}

export interface SkillSummary {
  readonly name: string;
  readonly description: string;
  readonly source: "workspace" | "bundled" | "user";
  readonly path: string;
  readonly enabled: boolean;
}

export interface PairingRequest {
  readonly code: string;
  readonly channel: string;
  readonly senderId: string;
  readonly senderName?: string;
  readonly createdAt: string;
  readonly expiresAt: string;
}

export interface PairedSender {
  readonly channel: string;
  readonly senderId: string;
  readonly senderName?: string;
  readonly pairedAt: string;
}

/** Follows one session, `*` (all chats, live only) or `system`. */
export interface Subscription {
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
    readonly cwd?: string | undefined;
  }): Promise<{ readonly key: string; readonly reused: boolean }>;
  /** @throws {RequestError} 404 */
  getSession(key: string): Promise<SessionDocument>;
  /** @throws {RequestError} 404 */
  deleteSession(key: string): Promise<void>;
  /** @throws {RequestError} 404 */
  renameSession(key: string, title: string): Promise<void>;
  /** Ends the running turn, if any. Resolves with whether there was one. */
  stopTurn(key: string): Promise<{ readonly stopped: boolean }>;
  sessionStatus(
    key: string,
    options: { readonly includeRecovery: boolean; readonly fromSequence?: number },
  ): Promise<SessionStatus>;

  /** Resolves once the message is durable. @throws {RequestError} 400 empty or too long, 409 by state, 429 busy */
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
   */
  subscribe(
    target: string,
    options: { readonly fromSequence?: number | undefined; readonly types?: readonly string[] | undefined },
    listener: (event: GatewayEvent) => void | Promise<void>,
  ): Subscription;

  listSkills(): Promise<readonly SkillSummary[]>;
  /** @throws {RequestError} 404 */
  getSkill(name: string): Promise<SkillSummary & { readonly content: string }>;

  listPairings(): { readonly waiting: readonly PairingRequest[]; readonly paired: readonly PairedSender[] };
  /** @throws {RequestError} 404 for an unknown or expired code */
  approvePairing(code: string): Promise<PairedSender>;
  /** @throws {RequestError} 404 */
  revokePairing(channel: string, senderId: string): Promise<void>;

  ledger(): Promise<readonly LedgerEntry[]>;
  /** Counters in the text format of Prometheus; empty when they are switched off. */
  metrics?(): string;
}
