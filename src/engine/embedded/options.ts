import type { GatewayEvent } from "../../events/event.js";
import type { Logger } from "../../log.js";
import type { QueueName } from "../engine.js";

/** `queue` is there where one piece of work is at the boundary. */
export type OnBoundary = (name: string, queue?: QueueName) => void;

/** Where the session logs are, and what is known of them. */
export interface LogOptions {
  /** Absolute path of a session's log, e.g. `…/.sessions/telegram_42.events.jsonl`. Stable for a key. */
  readonly pathOf: (sessionKey: string) => string;
  /**
   * The paths of all session logs there are. Asked when the journal does not tell by itself whether it is whole, and when
   * it is not, so that the refusal can say what is missing.
   */
  readonly all?: (() => readonly string[]) | undefined;
  /** Path of a second mark of the journal, beside the session logs: it shows a home that was put back from an older copy. */
  readonly mark?: string | undefined;
  /** The highest sequence number of the session that people were shown, as far as files tell. Asked about damaged logs. */
  readonly shownSeq?: ((sessionKey: string) => number) | undefined;
}

/** The lock on the home, which the caller holds. */
export interface LockOptions {
  /** Throws when the lock is lost. Asked before and after each write; then `onFatal` is called. */
  readonly assertHeld?: () => void;
  /** Another process may have a write under way: it must not meet the journal that this one goes on with. */
  readonly isTakenOver?: boolean;
}

/** The process that the engine lives in. */
export interface ProcessOptions {
  /** Called when the process must not go on: a failed fsync, a lost lock. Default: log and `process.exit(74)`. */
  readonly onFatal?: (error: Error) => void;
  /** Names the time since the system was started. Default: what the system tells. */
  readonly bootId?: string;
}

export interface JournalOptions {
  /** A new segment begins once the current one is longer. Default 8 MB. */
  readonly segmentBytes?: number;
  /** With at least so many new ids of accepted work a new segment leaves them to a file of their own. Default 4096. */
  readonly sealAtLeast?: number;
  /** The journal is written again this long after a deletion. Default 1000. */
  readonly forgetMs?: number;
}

export interface EmbeddedEngineOptions {
  /** Holds `journal/`. Created when missing. */
  readonly home: string;
  readonly logs: LogOptions;
  /** Called with each event, per session in seq order, once it is written (and synced, where that was asked). */
  readonly publish: (event: GatewayEvent) => void;
  readonly instanceId: string;
  readonly log: Logger;
  readonly lock?: LockOptions;
  readonly process?: ProcessOptions;
  /** Unix ms. Default `Date.now`. */
  readonly now?: () => number;
  readonly journal?: JournalOptions;
  /** Session logs are written this long after a session's last event. Default 1000. */
  readonly quietMs?: number;
  readonly limits?: {
    readonly acceptsWaiting?: number;
    /** Pieces of work in one lane. Default 10,000; or 16 MB in one, or 32 MB in all. */
    readonly pendingPerKey?: number;
    readonly waitMs?: number;
    /** How soon after its begin the end of the process counts against suspected work, at first. Default 4000. */
    readonly suspectMs?: number;
  };
  /** Called with the name of each boundary that is passed, so that a test can kill the process there. */
  readonly onBoundary?: OnBoundary;
}
