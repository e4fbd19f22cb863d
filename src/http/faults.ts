import { EngineError, isAbortError, RequestError, StorageError } from "../errors.js";
import type { Logger } from "../log.js";
import { newId } from "../util/ids.js";

/** What a client is told about a failure. */
export interface FaultReply {
  readonly status: number;
  readonly code: string;
  /** For people; never a raw error. */
  readonly error: string;
  readonly retryAfterMs?: number | undefined;
  /** The state of what was asked for, where that is why. */
  readonly state?: string | undefined;
}

/** The reply to anything that a handler threw. What nobody expected is logged once, and told by its id only. */
export function toFaultReply(thrown: unknown, log: Logger): FaultReply {
  if (thrown instanceof RequestError) {
    const busy = thrown.status === 429 || thrown.status === 503;
    return {
      status: thrown.status,
      code: thrown.code,
      error: thrown.message,
      retryAfterMs: thrown.retryAfterMs ?? (busy ? 1000 : undefined),
      state: thrown.state,
    };
  }
  if (thrown instanceof EngineError) return engineReply(thrown, log);
  if (thrown instanceof StorageError) {
    log.error("the session storage refused a request", { error: thrown });
    const error = "The session storage does not answer. Nothing was changed; try again when it is back.";
    return { status: 503, code: "STORAGE_FAILED", error, retryAfterMs: 5000 };
  }
  if (isAbortError(thrown))
    return { status: 503, code: "closed", error: "The gateway is stopping.", retryAfterMs: 1000 };
  const id = newId("err");
  log.error("a request failed", { id, error: thrown });
  return { status: 500, code: "UNKNOWN", error: `Something went wrong here. The log has more under ${id}.` };
}

function engineReply(thrown: EngineError, log: Logger): FaultReply {
  switch (thrown.kind) {
    case "buffer_full":
    case "lane_full":
      return {
        status: 429,
        code: "BUFFER_FULL",
        error: "Too much is waiting already. Nothing was stored; try again in a moment.",
        retryAfterMs: thrown.retryAfterMs ?? 1000,
      };
    case "persistence":
      log.error("a request could not be stored", { error: thrown });
      return {
        status: 503,
        code: "PERSISTENCE_FAILED",
        error: "The gateway cannot write to its disk right now. Nothing was stored.",
        retryAfterMs: 5000,
      };
    case "unreadable":
      log.error("something that is stored could not be read for a request", { error: thrown });
      return {
        status: 503,
        code: "READ_FAILED",
        error:
          "The gateway cannot read one of its files right now. What was stored before is kept. Try again in a moment.",
        retryAfterMs: 5000,
      };
    case "corrupt":
      log.error("something that is stored is damaged, and a request needs it", { error: thrown });
      return {
        status: 500,
        code: "STORED_DATA_DAMAGED",
        error: 'Something that the gateway has stored is damaged. Run "maxclaw doctor" to see what, and what to do.',
      };
    case "closed":
    case "locked":
      return { status: 503, code: "closed", error: "The gateway is stopping.", retryAfterMs: 1000 };
    case "fenced":
      return { status: 409, code: "conflict", error: "Something newer was stored first. Try again." };
  }
}
