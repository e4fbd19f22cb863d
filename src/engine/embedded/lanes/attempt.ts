import { EngineError } from "../../../errors.js";
import type { LinkedAbort } from "../../../util/async/linked.js";
import type { StoredWork } from "../../engine.js";
import type { Slot } from "../../slot.js";
import type { Lane, WorkItem } from "./work-table.js";

/** One run of a handler. */
export interface Attempt {
  readonly lane: Lane;
  readonly item: WorkItem;
  readonly claimed: Set<WorkItem>;
  readonly abort: LinkedAbort;
  readonly slot: Slot;
  /** No attempt before it has begun. */
  readonly isFirst: boolean;
  readonly isExhausted: boolean;
  /** Waiting for a person it keeps no suspect out of work. */
  readonly onPause: () => void;
  /** Called with new work of its lane. */
  readonly listeners: Set<(work: StoredWork) => void>;
  /** Acknowledged, given back or fenced: it can store nothing more. */
  isEnded: boolean;
}

/** @throws {EngineError} `fenced` */
export function assertCurrent(attempt: Attempt): void {
  if (!attempt.isEnded) return;
  throw new EngineError(`This attempt at ${attempt.item.work.id} has ended: it can store nothing more`, {
    kind: "fenced",
  });
}

/** Ends an attempt; what it had claimed waits again in its old place, unless it is acknowledged. */
export function endAttempt(attempt: Attempt): void {
  attempt.isEnded = true;
  for (const item of attempt.claimed) if (item.takenBy === attempt) item.takenBy = undefined;
  attempt.claimed.clear();
  attempt.listeners.clear();
}
