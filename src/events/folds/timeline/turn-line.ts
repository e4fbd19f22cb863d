import type { Usage } from "../../content.js";

/** A turn in one line. */
export interface TurnLine {
  readonly turnId: string;
  state: "running" | "complete" | "failed" | "cancelled";
  readonly began: TurnBegin;
  /** ISO 8601. */
  endedAt?: string;
  queuedMs: number;
  /** From the begin of its work to its end. */
  durationMs?: number;
  readonly used: TurnUse;
  /** Why it failed, or what stopped it. */
  failure?: string;
  /** Its first event, and its end; the newest while it runs. */
  readonly firstSeq: number;
  lastSeq: number;
}

/** What began a turn. */
export interface TurnBegin {
  /** ISO 8601: when its first message came in, as far as the log still says. */
  readonly at: string;
  /** How its first message begins. */
  words: string;
  readonly channel: string;
  readonly sender: string;
  /** Somebody's message, a scheduled job, the heartbeat, or a sub-agent's result. */
  readonly origin: "message" | "job" | "heartbeat" | "result";
}

/** What a turn has used. */
export interface TurnUse {
  modelCalls: number;
  toolCalls: number;
  usage: Usage;
  /** Of the answers whose price is known; absent where nothing has a known price. */
  costUsd?: number;
  /** Answers whose price nobody knows. */
  unpricedCalls: number;
}
