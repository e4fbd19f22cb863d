import type { BudgetUsage } from "../../budgets/report.js";
import type { Usage } from "../../events/content.js";
import type { SessionDocument } from "../../sessions/session.js";
import type { SendOutcome } from "../messages/messages-api.js";
import type { KeptSessionsApi } from "./kept-sessions-api.js";

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

/** The session that a copy was made of, and up to where. */
export interface ForkedFrom {
  readonly key: string;
  readonly seq: number;
}

/** Which turn is to be tried again. */
export interface RetryWish {
  readonly sessionKey: string;
  readonly turnId: string;
  readonly messageId?: string | undefined;
}

/** The conversations: what there is, and where each begins and ends. */
export interface SessionsApi extends KeptSessionsApi {
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
   * Tries the last turn again, which has failed: as a new turn over the same message, whose calls that were run are not
   * run again. The same message id again changes nothing; without one each turn has its own.
   *
   * @throws {RequestError} 404; 409 `already_retried`, `not_failed`, `not_last`, or `turn_running` while something waits
   */
  retryTurn(wanted: RetryWish): Promise<SendOutcome>;
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
}
