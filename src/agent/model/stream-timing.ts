import type { AgentBus } from "../../events/bus/agent-bus.js";
import type { Logger } from "../../log.js";

/** Tells, for the debug log, how long each model call took to its first piece and to its end. Returns the undo. */
export function watchStreamTiming(bus: AgentBus, log: Logger, now: () => number = () => performance.now()): () => void {
  let call: { readonly messageId: string; readonly startedAt: number; firstMs: number | undefined } | undefined;
  return bus.subscribe((input) => {
    if (input.kind === "stream_started") {
      call = { messageId: input.messageId, startedAt: now(), firstMs: undefined };
      return;
    }
    if (input.kind !== "chunk" || call === undefined) return;
    call.firstMs ??= now() - call.startedAt;
    if (input.chunk.kind !== "end") return;
    log.debug("a model answered", {
      message: call.messageId,
      firstMs: Math.round(call.firstMs),
      totalMs: Math.round(now() - call.startedAt),
      outputTokens: input.chunk.usage.output_tokens,
    });
    call = undefined;
  });
}
