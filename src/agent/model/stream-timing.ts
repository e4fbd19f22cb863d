import type { AgentBus } from "../../events/bus/agent-bus.js";
import type { Logger } from "../../log.js";

/** How long a model call took that was answered, in ms. */
export interface StreamTiming {
  /** `provider/model`. */
  readonly model: string;
  readonly firstMs: number;
  readonly totalMs: number;
}

/** Tells, also for the debug log, how long each model call took to its first piece and to its end. Returns the undo. */
export function watchStreamTiming(
  bus: AgentBus,
  log: Logger,
  onAnswered: (timing: StreamTiming) => void = () => {},
  now: () => number = () => performance.now(),
): () => void {
  let call:
    | { readonly messageId: string; readonly model: string; readonly startedAt: number; firstMs: number | undefined }
    | undefined;
  return bus.subscribe((input) => {
    if (input.kind === "stream_started") {
      call = { messageId: input.messageId, model: input.model, startedAt: now(), firstMs: undefined };
      return;
    }
    if (input.kind !== "chunk" || call === undefined) return;
    call.firstMs ??= now() - call.startedAt;
    if (input.chunk.kind !== "end") return;
    const timing = { model: call.model, firstMs: call.firstMs, totalMs: now() - call.startedAt };
    onAnswered(timing);
    log.debug("a model answered", {
      message: call.messageId,
      firstMs: Math.round(timing.firstMs),
      totalMs: Math.round(timing.totalMs),
      outputTokens: input.chunk.usage.output_tokens,
    });
    call = undefined;
  });
}
