import type { InboundMessage } from "../../bus/messages.js";

/** Whose budgets a message counts for: a scheduled job has its own, and what nobody asked for is nobody's. */
export function payerOf({ channel, senderId, internal, jobId, taskId }: InboundMessage): {
  readonly sender: string | undefined;
  readonly job: string | undefined;
  readonly isTask: boolean;
} {
  const isAsked = internal !== true && jobId === undefined;
  return { sender: isAsked ? `${channel}:${senderId}` : undefined, job: jobId, isTask: taskId !== undefined };
}
