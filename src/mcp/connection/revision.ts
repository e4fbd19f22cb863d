import {
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  type VersionNegotiationOptions,
} from "@modelcontextprotocol/client";
import { MoreLoginNeeded } from "../auth/oauth.js";
import type { McpLimits } from "../settings.js";

/**
 * Which revisions of the protocol a connection begins with: it asks for the newest and goes on with an older one where
 * the server does not know that question, or begins with one of the two at once.
 */
export type Agreement = "either" | "older" | "newest";

const newestRevision = "2026-07-28";

/** How the client agrees with the server on a revision. */
export function negotiationOf(agreement: Agreement, { initialiseMs }: McpLimits): VersionNegotiationOptions {
  if (agreement === "older") return { mode: "legacy" };
  if (agreement === "newest") return { mode: { pin: newestRevision }, probe: { timeoutMs: initialiseMs } };
  // Older servers may leave a question unanswered that they do not know.
  return { mode: "auto", probe: { timeoutMs: Math.ceil(initialiseMs * 0.3) } };
}

/**
 * What to begin a second connection with, after a first one has failed; undefined where that is not a question of the
 * revision. Some older servers end, fail, fall silent or want a login when they are asked before they are initialised; a
 * newer one that starts slowly refuses the older beginning, which it was given because it had been silent.
 */
export function nextAgreement(first: Agreement, error: unknown, endedItself: boolean): Agreement | undefined {
  if (first !== "either") return undefined;
  const causes = causesOf(error);
  if (causes.some((one) => one instanceof ProtocolError && one.code === ProtocolErrorCode.UnsupportedProtocolVersion))
    return "newest";
  const isOfProbe = causes.some(
    (one) =>
      one instanceof SdkError &&
      (one.code === SdkErrorCode.EraNegotiationFailed ||
        (one.code === SdkErrorCode.RequestTimeout && /negotiation probe/.test(one.message))),
  );
  const wantsLogin = causes.some((one) => one instanceof MoreLoginNeeded);
  // Nobody was reached.
  const isAway = causes.some((one) => one instanceof TypeError);
  return endedItself || wantsLogin || (isOfProbe && !isAway) ? "older" : undefined;
}

/** An error and its cause. */
export function causesOf(error: unknown): readonly Error[] {
  const found: Error[] = [];
  for (let one = error; one instanceof Error && found.length < 10; one = one.cause) found.push(one);
  return found;
}
