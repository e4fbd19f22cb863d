import type { FailedTurn, RetryTrail } from "./trail.js";

/**
 * The message that has a failed turn tried again, in the name of who had asked. Its words stay where they are: in the
 * log, and mostly in the context. Without an id each try of one turn has the same one, so that it is accepted once.
 */
export function retryMessage(
  { turnId, message }: FailedTurn,
  {
    by,
    id = `msg_again_${turnId}`,
    now,
  }: { readonly by: "person" | "gateway"; readonly id?: string | undefined; readonly now: number },
) {
  return {
    ...message,
    id,
    content: "",
    attachments: [],
    quoted: undefined,
    retry: { of: turnId, by },
    receivedAt: now,
  };
}

/** Why that turn cannot be tried again, as a code and one sentence; undefined where it can. */
export function whyNotAgain(
  { failed, last, asked }: Pick<RetryTrail, "failed" | "last" | "asked">,
  turnId: string,
): { readonly code: "already_retried" | "not_failed" | "not_last"; readonly sentence: string } | undefined {
  if (asked?.of === turnId) return { code: "already_retried", sentence: `The turn ${turnId} was already tried again.` };
  if (failed?.turnId === turnId) return undefined;
  if (last?.turnId === turnId && !last.hasFailed)
    return { code: "not_failed", sentence: `The turn ${turnId} did not fail. Only a failed turn can be tried again.` };
  return {
    code: "not_last",
    sentence: `The turn ${turnId} cannot be tried again. Only the last turn of a session can, and only when it failed on a person's message.`,
  };
}
