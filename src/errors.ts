/** Codes that people and programs see; each has its own plain sentence in `sentences`. */
export type ErrorCode =
  | "RATE_LIMIT"
  | "CONTEXT_OVERFLOW"
  | "TOOL_ERROR"
  | "AUTH_FAILED"
  | "TIMEOUT"
  | "CIRCUIT_OPEN"
  | "PERSISTENCE_FAILED"
  | "BUFFER_FULL"
  | "VALIDATION_ERROR"
  | "BUDGET_EXCEEDED"
  | "INTERRUPTED_BY_RESTART"
  | "STORED_DATA_DAMAGED"
  | "UNKNOWN";

export interface FaultOptions {
  readonly cause?: unknown;
  readonly retryable?: boolean;
  readonly retryAfterMs?: number | undefined;
}

/** A fault that some caller branches on. Its message says what was tried and never holds a secret. */
export abstract class Fault extends Error {
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: FaultOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The configuration, or the folder it names, cannot be used. The message says what to change. */
export class ConfigError extends Fault {}

/** A channel's connection or one of its sends failed. */
export class ChannelError extends Fault {
  /** `refused`: nothing was shown. `unknown`: the request had left and its fate cannot be told from here. */
  readonly outcome: "refused" | "unknown";
  /** Nothing of ours can be shown in this chat any more: it is gone, or its person has blocked the bot. */
  readonly isChatClosed: boolean;

  constructor(
    message: string,
    options: FaultOptions & {
      readonly outcome?: "refused" | "unknown";
      readonly isChatClosed?: boolean;
    } = {},
  ) {
    super(message, options);
    this.outcome = options.outcome ?? "refused";
    this.isChatClosed = options.isChatClosed ?? false;
  }
}

export type ProviderErrorKind =
  | "auth"
  | "billing"
  | "rate_limit"
  | "overloaded"
  | "timeout"
  | "context_overflow"
  | "bad_request"
  | "not_found"
  | "network"
  | "garbage"
  /** Not asked at all: the model has failed too often in a row. */
  | "circuit_open";

/** Why no connection came about: nothing listens there, no such name, its certificate, no answer in time, cut. */
export type Unreached = "refused" | "name" | "certificate" | "silent" | "cut";

export interface ProviderErrorOptions extends FaultOptions {
  readonly kind: ProviderErrorKind;
  readonly status?: number | undefined;
  readonly provider?: string | undefined;
  readonly unreached?: Unreached | undefined;
  readonly detail?: string | undefined;
}

/** A model call failed. `kind` decides what happens next; `status` is the HTTP status where there was one. */
export class ProviderError extends Fault {
  readonly kind: ProviderErrorKind;
  readonly status: number | undefined;
  /** Name of the provider in the config, where the failure is of one. */
  readonly provider: string | undefined;
  /** Set for `network`. */
  readonly unreached: Unreached | undefined;
  /** All that the server said, without secrets; `message` shows its beginning. */
  readonly detail: string | undefined;

  constructor(message: string, options: ProviderErrorOptions) {
    super(message, {
      ...options,
      retryable: options.retryable ?? ["rate_limit", "overloaded", "timeout", "network"].includes(options.kind),
    });
    this.kind = options.kind;
    this.status = options.status;
    this.provider = options.provider;
    this.unreached = options.unreached;
    this.detail = options.detail;
  }

  /** The code that events and people see for this failure. */
  get code(): ErrorCode {
    return providerErrorCodes[this.kind];
  }
}

const providerErrorCodes: Readonly<Record<ProviderErrorKind, ErrorCode>> = {
  auth: "AUTH_FAILED",
  billing: "AUTH_FAILED",
  rate_limit: "RATE_LIMIT",
  overloaded: "RATE_LIMIT",
  timeout: "TIMEOUT",
  context_overflow: "CONTEXT_OVERFLOW",
  bad_request: "VALIDATION_ERROR",
  not_found: "VALIDATION_ERROR",
  network: "UNKNOWN",
  garbage: "UNKNOWN",
  circuit_open: "CIRCUIT_OPEN",
};

export type EngineErrorKind =
  /** Too much is on its way to the disk. Nothing was stored. */
  | "buffer_full"
  /** The chat has as much waiting as it may hold. Nothing was stored. */
  | "lane_full"
  /** The disk refused the write. Nothing was stored. */
  | "persistence"
  /** Something stored is damaged in a place where only a person can decide. Says nothing of what was stored since. */
  | "corrupt"
  /** The disk refused to read something. Says nothing of what was stored. */
  | "unreadable"
  /** Another process holds the home or the workspace. */
  | "locked"
  /** The engine was closed. */
  | "closed"
  /** A stale attempt tried to write, or another event holds that sequence number. */
  | "fenced";

/** Making work durable failed. */
export class EngineError extends Fault {
  readonly kind: EngineErrorKind;

  constructor(message: string, options: FaultOptions & { readonly kind: EngineErrorKind }) {
    super(message, {
      ...options,
      retryable: options.retryable ?? ["buffer_full", "persistence", "unreadable"].includes(options.kind),
    });
    this.kind = options.kind;
  }
}

/** The storage of session documents cannot be reached, or refuses. What was asked for may have happened. */
export class StorageError extends Fault {}

/** The request itself is wrong. `code` is what HTTP and WebSocket clients see; `status` its HTTP status. */
export class RequestError extends Fault {
  readonly status: number;
  readonly code: string;
  /** The state of what was asked for, where that is why. */
  readonly state: string | undefined;

  constructor(
    message: string,
    options: FaultOptions & { readonly status: number; readonly code: string; readonly state?: string },
  ) {
    super(message, options);
    this.status = options.status;
    this.code = options.code;
    this.state = options.state;
  }
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** True for the rejection that an aborted signal causes. */
export function isAbortError(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}
