import { EngineError } from "../../../errors.js";
import type { LinkedAbort } from "../../../util/async/linked.js";
import type { QueueName, StoredWork } from "../../engine.js";
import type { JobAttempt } from "../modules.js";

/** What is known of the attempts before. */
export interface Past {
  /** None has begun. */
  readonly isFirst: boolean;
  /** The work has ended a process. */
  readonly isSuspect: boolean;
  /** Those that did not end with their process, this one included. */
  readonly failures: number;
}

/** One run of a handler, and the claim on its job that it holds. */
export interface Attempt {
  readonly queue: QueueName;
  readonly claim: JobAttempt;
  readonly work: StoredWork;
  /** Jobs of the same lane that it has taken along, by the id of their work. */
  readonly claimed: Map<string, string>;
  readonly abort: LinkedAbort;
  readonly isExhausted: boolean;
  readonly past: Past;
  /** Other work of its lane may wait: some was there at the begin, or came since then. */
  mayHaveOthers: boolean;
  /** Called with new work of its lane. */
  readonly listeners: Set<(work: StoredWork) => void>;
  /** Acknowledged, given back or fenced: it can store nothing more. */
  isEnded: boolean;
  /** Somebody else has ended it. */
  isFenced: boolean;
  /** When its claim was asked for or renewed last, by the monotonic clock. */
  renewedAt: number;
}

/** @throws {EngineError} `fenced` */
export function assertCurrent({ isEnded, work }: Attempt): void {
  if (isEnded)
    throw new EngineError(`This attempt at ${work.id} has ended: it can store nothing more`, { kind: "fenced" });
}

export function endAttempt(attempt: Attempt): void {
  attempt.isEnded = true;
  attempt.claimed.clear();
  attempt.listeners.clear();
}

/** Another one has its work, or the work is gone. */
export function fence(attempt: Attempt, why: string): void {
  if (attempt.isEnded) return;
  attempt.isFenced = true;
  endAttempt(attempt);
  attempt.abort.abort(new EngineError(`The attempt was ended: ${why}`, { kind: "fenced" }));
}
