import type { InboundMessage } from "../../../bus/messages.js";
import type { Count } from "../../../engine/engine.js";
import type { ProviderError, ProviderErrorKind } from "../../../errors.js";
import type { Payload } from "../../../events/catalogue.js";
import { waitingRetry } from "../../../events/retries/waiting.js";
import { commandOf } from "../../commands/chat-command.js";

/** What the end of a failed turn says about trying it again. */
export type RetryOffer = Pick<Payload<"turn_execution_failed">, "retry" | "retry_until">;

/** Nobody wants an answer any more that comes later. */
const longestWaitMs = 3_600_000;

const busyMs = 60_000;
/** So long a try by itself is kept for an answer that the provider truly gives. */
const blindMs = 300_000;
/** The server is there: that it lists its models says nothing of whether they answer. */
const there: ReadonlySet<ProviderErrorKind> = new Set(["overloaded", "circuit_open"]);

/** The server is down, busy or not reached: nobody has to change anything before it works again. */
const passing: ReadonlySet<ProviderErrorKind> = new Set([
  "overloaded",
  "rate_limit",
  "timeout",
  "network",
  "circuit_open",
]);

/** Only what a person has asked; and what is not in the context yet only where the log tells all of it. */
export function offerOf(message: InboundMessage, hasEntered: boolean): RetryOffer {
  const { internal, jobId, taskId, resultOf, silence, change } = message;
  const isOfPerson =
    internal !== true && [jobId, taskId, resultOf, silence, change].every((mark) => mark === undefined);
  if (!isOfPerson) return {};
  const { outside, mixed, note, addresses, selectedSkills } = message;
  const isPlain = [outside, mixed, note, addresses, selectedSkills].every((mark) => mark === undefined);
  const isWhole = message.retry !== undefined || (isPlain && commandOf(message) === undefined);
  return hasEntered || isWhole ? { retry: "offered" } : {};
}

/**
 * The same after a failed model call: where the provider was down the gateway tries again by itself, once. `counts` go
 * with the end of the turn, so that no crash comes between.
 */
export function offerAfter(
  error: ProviderError,
  {
    message,
    turnId,
    hasEntered,
    now,
  }: { readonly message: InboundMessage; readonly turnId: string; readonly hasEntered: boolean; readonly now: number },
): { readonly offer: RetryOffer; readonly counts: readonly Count[] } {
  const offer = offerOf(message, hasEntered);
  const { kind, provider, unreached, status, retryAfterMs = 0 } = error;
  const isPassing = passing.has(kind) && unreached !== "certificate" && retryAfterMs < longestWaitMs;
  if (offer.retry === undefined || !isPassing || provider === undefined || message.retry?.by === "gateway")
    return { offer, counts: [] };
  const until = now + longestWaitMs;
  // A server that is merely busy answers everything else at once, so that asking it tells nothing.
  const isBusy = kind === "rate_limit" || status === 529;
  const after = now + (kind === "circuit_open" ? 0 : Math.max(retryAfterMs, isBusy ? busyMs : 0));
  const blindAt = there.has(kind) ? now + blindMs : undefined;
  return {
    offer: { retry: "waits", retry_until: new Date(until).toISOString() },
    counts: [waitingRetry({ sessionKey: message.sessionKey, turnId, provider }, { after, until, blindAt })],
  };
}
