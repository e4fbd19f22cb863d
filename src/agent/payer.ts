import type { InboundMessage } from "../bus/messages.js";

/** Whose budgets a message counts for: a scheduled job has its own, and what nobody asked for is nobody's. */
export function payerOf({ channel, senderId, internal, jobId }: InboundMessage): {
  readonly sender: string | undefined;
  readonly job: string | undefined;
} {
  const isAsked = internal !== true && jobId === undefined;
  return { sender: isAsked ? `${channel}:${senderId}` : undefined, job: jobId };
}
