import type { InboundMessage, OutboundMessage } from "../bus/messages.js";
import type { EventDraft, StoredEvent } from "../events/event.js";
import type { SpreadCounts } from "../util/spread.js";

/** What each queue carries. */
export interface QueueBodies {
  readonly inbound: InboundMessage;
  readonly outbound: OutboundMessage;
}
export type QueueName = keyof QueueBodies;

/** A piece of work on its way in. */
export interface Work<Q extends QueueName = QueueName> {
  readonly queue: Q;
  /** Unique for ever; accepting the same id again is a duplicate. */
  readonly id: string;
  /** The lane: session key for inbound, `channel:chat` for outbound. One at a time, in the order of accepting. */
  readonly key: string;
  /** The session whose log tells about this work; for inbound the same as `key`. */
  readonly sessionKey: string;
  /** What the platform repeats on redelivery; remembered for 7 days. */
  readonly dedupId?: string | undefined;
  readonly body: QueueBodies[Q];
}

/** A piece of work that is in the engine. */
export interface StoredWork<Q extends QueueName = QueueName> extends Work<Q> {
  /** Unix ms of accepting. */
  readonly acceptedAt: number;
  /** Deliveries begun so far, those before a crash included. */
  readonly attempts: number;
  /** A power cut may have taken what was stored of an attempt, so that it may have begun though nothing says so. */
  readonly mayHaveBegun?: boolean;
}

export type Acceptance =
  | { readonly status: "accepted"; readonly events: readonly StoredEvent[] }
  /** The id or dedup id is known: nothing was stored, and the platform may be told that it arrived. */
  | { readonly status: "duplicate" };

export interface AcceptOptions {
  /** A function is called with how much work is in the lane by then, in the same step that adds this work. */
  readonly events: readonly EventDraft[] | ((ahead: number) => readonly EventDraft[]);
  /** Moves with the work or not at all, e.g. `telegram:offset`. */
  readonly cursor?: Cursor;
  /** Must act at once, e.g. `/stop`: let in where the lane has no room for other work. */
  readonly isUrgent?: boolean;
}

export interface Cursor {
  readonly name: string;
  readonly value: string;
}

/** A lane in which much is waiting. */
export interface LongLane {
  readonly key: string;
  readonly waiting: number;
  /** Unix ms at which the first of it was accepted. */
  readonly since: number;
  /** What the first of it does. `suspect`: it may have ended the process, and runs again when nothing else can be to blame. */
  readonly state: "works" | "suspect" | "retries" | "waits";
}

/** Numbers to add to those of a record, see {@link Records}; a record or number that is not there counts as 0. */
export interface Count {
  readonly kind: string;
  readonly id: string;
  readonly add: Readonly<Record<string, number>>;
}

export interface AppendOptions {
  /** Wait for fdatasync. Without it the events are written: they survive `kill -9`, not a power cut. */
  readonly durable: boolean;
  /** The events get numbers above this one. */
  readonly afterSeq?: number | undefined;
  /** Added together with the events, or not at all: when none of them is new, they were added the first time. */
  readonly counts?: readonly Count[] | undefined;
}

export interface DeliveryAppendOptions extends AppendOptions {
  /** New work that exists together with the events or not at all; handed out once both are durable. */
  readonly emit?: readonly Work[];
}

export interface Commit {
  /** For the work's own session. */
  readonly events: readonly EventDraft[];
  /** New work that exists from this commit on. */
  readonly emit: readonly Work[];
  /** As with {@link AppendOptions}. */
  readonly counts?: readonly Count[] | undefined;
}

/**
 * One attempt at one piece of work. What it appends or commits has been published when the promise resolves, so that a
 * fold over the published events is up to date. Ends with exactly one of commit, retry, release or bury.
 */
export interface Delivery<Q extends QueueName = QueueName> {
  readonly work: StoredWork<Q>;
  /** From 1. Counts attempts that a crash ended. */
  readonly attempt: number;
  /** No attempt before this one has begun, in no process, however it ended. False where that is not certain. */
  readonly isFirst: boolean;
  /** True once maxAttempts have failed, or once it is sure that the work ends the process: the handler may only bury. */
  readonly exhausted: boolean;

  /** @throws {EngineError} `fenced` once this attempt has ended or the lane has moved on */
  append(events: readonly EventDraft[], options: DeliveryAppendOptions): Promise<readonly StoredEvent[]>;

  /**
   * Publishes an event of the work's session that is never stored (stream layer, internal), after the session's last
   * stored one. Does nothing once this attempt has ended.
   */
  publish(event: EventDraft): void;

  /** Accepted work of this lane that {@link claim} would take now, oldest first. */
  waiting(): Promise<readonly StoredWork<Q>[]>;

  /** Calls back with each piece of work accepted in this lane from now on, until this attempt ends. Returns the undo. */
  onAccepted(listener: (work: StoredWork<Q>) => void): () => void;

  /**
   * Waits for `work` without holding one of the consumer's places, and takes a place again afterwards. The lane waits
   * as well. A crash meanwhile does not count as an attempt.
   */
  pause<T>(work: () => Promise<T>): Promise<T>;

  /**
   * Takes waiting work of the same lane into this delivery, so that its commit acknowledges it too. If the attempt
   * ends without a commit they are waiting again, in their old place. Ids that do not wait in this lane are left out.
   */
  claim(ids: readonly string[]): Promise<readonly StoredWork<Q>[]>;

  /** Events, new work and the acknowledgement of this and all claimed work: all or nothing, and durable. */
  commit(commit: Commit): Promise<readonly StoredEvent[]>;

  /** Runs again after `delayMs`; the lane waits, so that order is kept. `events` tell why. */
  retry(options: {
    readonly reason: string;
    readonly delayMs: number;
    readonly events?: readonly EventDraft[];
  }): Promise<void>;

  /** Gives the work back without counting the attempt: for a shutdown. */
  release(): Promise<void>;

  /** Moves the work to the dead letters and acknowledges it in one commit, so that poison never blocks its chat. */
  bury(options: Commit & { readonly reason: string }): Promise<readonly StoredEvent[]>;
}

export interface ConsumeOptions {
  /** Lanes at work at the same time. */
  readonly parallel: number;
  /** Failed attempts before the work is exhausted. Without it the attempts have no end. */
  readonly maxAttempts?: number | undefined;
}

export type Handler<Q extends QueueName> = (delivery: Delivery<Q>, signal: AbortSignal) => Promise<void>;

export interface DeadLetter {
  readonly work: StoredWork;
  readonly reason: string;
  /** Unix ms. */
  readonly buriedAt: number;
}

/**
 * Small durable facts of one kind: pairing codes, allowed senders, approvals, and what was used per day. Values are JSON.
 * `get` and `list` read a view that is kept fresh: it shows at once what this node has changed, and what other nodes have
 * changed within two seconds. Who writes what it has read uses `update`.
 */
export interface Records {
  get(id: string): unknown;
  /** `isReceipt`: it notes what has happened outside already, for which a full disk has some room left. */
  put(id: string, value: unknown, options?: { readonly isReceipt?: boolean }): Promise<void>;
  delete(id: string): Promise<void>;
  list(): readonly { readonly id: string; readonly value: unknown }[];
  /**
   * Reads, changes and writes as one step, whatever other nodes do meanwhile. `change` gets the stored value (undefined:
   * there is none) and returns the new one (undefined: delete it; the very same value: leave it as it is). It may be
   * called again with a newer value, so it only computes. Resolves with the stored value once that is durable.
   */
  update(id: string, change: (value: unknown) => unknown): Promise<unknown>;
}

/** The right to do what only one node may do at a time, e.g. read one mailbox. Disposing gives it up. */
export interface Lease extends AsyncDisposable {
  /** A fencing number: above those of all earlier leases of this name. */
  readonly epoch: number;
  /** Aborts when another node may hold it by now, or when the engine closes: what is done under it must stop. */
  readonly lost: AbortSignal;
}

/** How an accepted inbound message ended, for the ledger. */
export interface LedgerEntry {
  readonly messageId: string;
  readonly sessionKey: string;
  readonly acceptedSeq: number;
  /**
   * `undelivered`: it was answered, but at least one message of the answer was given up. `settled`: it was lost, and a person
   * has looked after it.
   */
  readonly end: "answered" | "undelivered" | "refused" | "cancelled" | "failed" | "pending" | "lost" | "settled";
  readonly endSeq?: number;
}

/**
 * What a node knows about the engine without asking anybody: it shows at once what this node has done, and what other nodes
 * have done within two seconds.
 */
export interface EngineStatus {
  /** False while the disk refuses writes. */
  readonly writable: boolean;
  readonly reason?: string;
  readonly inboundWaiting: number;
  readonly outboundWaiting: number;
  readonly deadLetters: number;
  /** fdatasyncs that somebody waited for, since opening. */
  readonly syncs: number;
  /** Sentences for people about files that are damaged or gone, while work goes on without them. */
  readonly problems?: readonly string[];
}

/** What a node measures of its own work, for those who watch it. */
export interface EngineMeasures {
  /** Unix ms at which the oldest work of each queue was accepted. */
  readonly oldest: Partial<Record<QueueName, number>>;
  /** How long syncs took, in seconds. */
  readonly syncSeconds: SpreadCounts;
}

/**
 * Makes work durable and hands it out again, in order per lane, until it is acknowledged. The engine's single writer
 * gives each stored event its place in its session and alone publishes it, in that order, after it is in the file.
 */
export interface Engine extends AsyncDisposable {
  /** Names this process among all that work on the same messages. Another one at each start. */
  readonly nodeId: string;

  /**
   * Resolves once the work is durable. Calls are ordered: work is accepted in the order of the calls. Waits while
   * 100 accepts are on their way to the disk, 10 s at most.
   *
   * @throws {EngineError} `buffer_full` after that wait, `lane_full` at once when the lane holds 10,000 pieces or 16 MB,
   *   `persistence` when the disk refuses, `closed`
   */
  accept<Q extends QueueName>(work: Work<Q>, options: AcceptOptions): Promise<Acceptance>;

  /**
   * Resolves once it is durable that this work is not taken: accepting it later is a duplicate. False: its id is known
   * already, so that it was taken or refused before.
   *
   * @throws {EngineError} `persistence`, `closed`
   */
  refuse(work: Work<"inbound">, cursor?: Cursor): Promise<boolean>;

  /**
   * Hands out the queue's work until `signal` aborts, then resolves once the handlers have settled. A handler that
   * throws is logged and retried with growing delay; when the attempts are used up it is called once more with
   * `exhausted` set, and if that throws too the engine buries the work by itself. Attempts that end with their process are
   * not counted for that: what was in work then runs with fewer and fewer others of them beside it, until it is sure
   * which one ends the process. That one alone is `exhausted`.
   */
  consume<Q extends QueueName>(
    queue: Q,
    options: ConsumeOptions,
    handler: Handler<Q>,
    signal: AbortSignal,
  ): Promise<void>;

  /**
   * Adds events to a session outside of any delivery. Idempotent by event_id.
   *
   * @throws {EngineError} `persistence`, `closed`
   */
  append(sessionKey: string, events: readonly EventDraft[], options: AppendOptions): Promise<readonly StoredEvent[]>;

  /**
   * Publishes an event that is never stored and belongs to no delivery, after the session's last stored one: for those who
   * follow the session, on all nodes.
   */
  announce(sessionKey: string, event: EventDraft): Promise<void>;

  /** Events with seq > afterSeq, oldest first, at most `limit`. `hasMore` is exact at the time of reading. */
  events(
    sessionKey: string,
    range: { readonly afterSeq: number; readonly limit: number },
  ): Promise<{ readonly events: readonly StoredEvent[]; readonly hasMore: boolean }>;

  /** The session's last seq, 0 when it has none. */
  lastSequence(sessionKey: string): Promise<number>;

  /** Work of this lane that is accepted and not acknowledged, the running one included, oldest first. */
  waiting<Q extends QueueName>(queue: Q, key: string): Promise<readonly StoredWork<Q>[]>;

  /** Lanes of the inbound queue with at least so much in them. */
  longLanes(least: number): Promise<readonly LongLane[]>;

  /**
   * Drops the session's log and its waiting work. Nothing brings it back; a new life continues the sequence.
   */
  deleteSession(sessionKey: string): Promise<void>;

  cursor(name: string): Promise<string | undefined>;

  readonly records: {
    /** Resolves once the view is filled. The same kind gives the same view. */
    open(kind: string): Promise<Records>;
  };

  /**
   * Resolves once this node holds the lease of this name. While another holder has it, also one in this process, it
   * waits: in the order of the calls within a process.
   *
   * @throws {EngineError} `persistence`, `closed`; what `signal` aborts with
   */
  lease(name: string, signal: AbortSignal): Promise<Lease>;

  /** How each accepted inbound message of a session that was not deleted ended. */
  ledger(): Promise<readonly LedgerEntry[]>;

  /** Work that was given up. Deleting a session drops what is its own. */
  readonly dead: {
    /** Oldest first. */
    list(): Promise<readonly DeadLetter[]>;
    /** Puts it at the end of its lane again, with no attempts counted. False when the id is unknown. */
    redrive(id: string): Promise<boolean>;
    drop(id: string): Promise<boolean>;
  };

  status(): EngineStatus;

  /** Looks at all work that waits. Absent: nothing is measured. */
  measures?(): EngineMeasures;
}
