import { SdkError, SdkErrorCode, SdkHttpError } from "@modelcontextprotocol/client";
import { messageOf } from "../../errors.js";
import { cutText } from "../../util/text/cut-text.js";
import { LoginNeeded, MoreLoginNeeded } from "../auth/oauth.js";
import { causesOf } from "./revision.js";

interface Phase {
  readonly what: string;
  readonly ms: number;
  readonly timedOut: boolean;
}

/**
 * What a person can make something of. `reason`: the process' own end, which says more than the client's "connection
 * closed". `lost`: what went wrong besides the request.
 */
export function explain(
  error: unknown,
  reason: string | undefined,
  lost: string | undefined,
  { what, ms, timedOut }: Phase,
): Error {
  const causes = causesOf(error);
  const login = causes.find((one) => one instanceof LoginNeeded || one instanceof MoreLoginNeeded);
  if (login !== undefined)
    return login instanceof LoginNeeded ? login : new LoginNeeded(login.message, { cause: login });
  if (isUnknownHere(error)) return error;
  if (error instanceof SdkHttpError && (error.status === 401 || error.status === 403))
    return new LoginNeeded(`it answered with HTTP ${error.status}`);
  if (/\b401\b|unauthorized/i.test(messageOf(error))) return new LoginNeeded(messageOf(error));
  if (reason !== undefined) return new Error(reason, { cause: error });
  if (timedOut || /timed out/i.test(messageOf(error)))
    return new Error(`${what} took more than ${ms / 1000} s`, { cause: error });
  return new Error(causeOf(error) ?? lost ?? clauseOf(error), { cause: error });
}

/** Only a new session helps: the SDK has given up on the stream, or, with SSE, comes back as somebody else, or it is too much. */
export function isFatal(reason: string): boolean {
  return /^Maximum reconnection attempts|^SSE error|the server sent a message of more than/.test(reason);
}

/** An error in one clause, whatever page of HTML or list of problems it holds. */
export function clauseOf(error: unknown): string {
  if (isNotMcp(error)) return "what it answers is not MCP";
  const text = messageOf(error).replace(/^Error POSTing to endpoint: /, "");
  if (!(error instanceof SdkHttpError)) return cutText(text, 300);
  return cutText(`it answered with HTTP ${error.status}: ${error.data.text ?? text}`, 300);
}

function isNotMcp(error: unknown): boolean {
  if (error instanceof SdkError && error.code === SdkErrorCode.InvalidResult) return true;
  return error instanceof SyntaxError || (error instanceof Error && error.name.endsWith("ZodError"));
}

/** `fetch failed` says nothing; its cause does. */
export function causeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { cause } = error;
  if (cause instanceof Error && cause.message !== "") return cause.message;
  return cause instanceof Error && "code" in cause ? String(cause.code) : undefined;
}

/** The server does not know this transport, so that the older one may be tried. */
export function isUnknownHere(error: unknown): error is Error {
  return error instanceof SdkHttpError && [400, 404, 405, 406].includes(error.status);
}
