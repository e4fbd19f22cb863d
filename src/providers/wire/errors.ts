import { messageOf, ProviderError, type ProviderErrorKind } from "../../errors.js";
import { type ErrorReport, readErrorBody } from "./error-body.js";
import { TooLarge } from "./lines.js";
import { Refusal } from "./refusal.js";
import { toRetryAfterMs } from "./retry-after.js";
import { unreachedBy } from "./unreached.js";

/** Whom a failed call was for, and what its error text must not show. */
export interface FailureContext {
  readonly provider: string;
  readonly apiBase: string;
  readonly secrets: readonly string[];
}

/** What the far side said about a failure. */
interface Report extends Pick<ErrorReport, "codes" | "message"> {
  readonly status: number | undefined;
}

/** Turns whatever a model call threw into a ProviderError. */
export function toProviderError(error: unknown, context: FailureContext): ProviderError {
  const { provider } = context;
  if (error instanceof ProviderError) return error;
  if (error instanceof SyntaxError) return garbage(context, `${provider} sent broken JSON in its answer.`, true);
  if (error instanceof TooLarge) {
    const megabytes = Math.round(error.maxBytes / 1024 / 1024);
    return garbage(
      context,
      `${provider} sent ${error.what} of more than ${megabytes} MB. maxclaw stopped reading its answer.`,
      false,
    );
  }
  if (!(error instanceof Refusal)) return networkError(error, context);
  const report = readReport(error);
  const kind = kindOf(report);
  return new ProviderError(sentence(kind, report, context), {
    kind,
    provider,
    status: report.status,
    detail: withoutSecrets(report.message, context.secrets),
    retryAfterMs: toRetryAfterMs(error.headers, error.error, Date.now()),
  });
}

/** The answer was not one: `mayPass` when the next try may well be whole. */
export function garbage(
  { provider }: Pick<FailureContext, "provider">,
  message: string,
  mayPass: boolean,
): ProviderError {
  return new ProviderError(message, { kind: "garbage", provider, retryable: mayPass });
}

/** An error body that came with status 200. */
export function errorInBody(body: unknown): Error {
  return new Refusal(undefined, undefined, body);
}

function readReport({ status, error }: Pick<Refusal, "status" | "error">): Report {
  const { codes, message, status: named } = readErrorBody(error);
  return { status: status ?? named, codes, message: message === "" ? "no reason was given" : message };
}

const billingWords =
  /insufficient_quota|insufficient[ _]balance|credit balance is too low|exceeded_current_quota|billing_\w+|arrearage|余额不足|欠费/i;
const authWords =
  /invalid_api_key|api key not valid|api_key_invalid|authentication_error|permission_error|unauthenticated/i;
const rateWords = /rate_limit|resource_exhausted|too many requests/i;
/** How the known providers and servers say that the conversation no longer fits. */
const overflowWords = new RegExp(
  [
    "context_length_exceeded",
    "exceed_context_size",
    "request_too_large",
    "maximum context length",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "input token count .* exceeds",
    "input length and .* exceed",
    "range of input length",
    "maximum prompt length",
    "(exceeds?|exceeded|larger than|greater than) (the |your )?(available |model'?s? )?(context|max context)",
    "context window exceeds",
    "exceeded model token limit",
    "reduce the length of the (messages|input|prompt)",
    "too large for model with",
    "prompt exceeds max length",
  ].join("|"),
  "i",
);

function kindOf({ status, codes, message }: Report): ProviderErrorKind {
  const words = `${codes} ${message}`;
  if (status === 402 || billingWords.test(words)) return "billing";
  if (status === 401 || status === 403 || (status !== 429 && authWords.test(words))) return "auth";
  if (status === 429 || (status === undefined && rateWords.test(codes))) return "rate_limit";
  if (status === 413 || overflowWords.test(words)) return "context_overflow";
  if (status === 404 || /not_found/.test(codes)) return "not_found";
  if (status === 408 || status === 504 || /timeout_error/.test(codes)) return "timeout";
  if (status === undefined)
    return /invalid_?request|bad_?request|invalid_argument/.test(codes) ? "bad_request" : "overloaded";
  return status >= 500 ? "overloaded" : "bad_request";
}

function sentence(kind: ProviderErrorKind, report: Report, context: FailureContext): string {
  const status = report.status === undefined ? "" : ` (HTTP ${report.status})`;
  const detail = shortened(withoutSecrets(report.message, context.secrets));
  const todo = advice(kind, context);
  const end = todo === "" || /[.!?。]$/.test(detail) ? "" : ".";
  return `${context.provider} ${what(kind, report, context)}${status}: ${detail}${end}${todo}`;
}

function what(kind: ProviderErrorKind, { status }: Report, context: FailureContext): string {
  if (status !== undefined && status >= 300 && status < 400) {
    return `answered with a redirect, which is not followed with a key; set the final address instead of ${context.apiBase}`;
  }
  switch (kind) {
    case "auth":
      return "refused the API key";
    case "billing":
      return "refused for lack of credit";
    case "rate_limit":
      return "asks to slow down";
    case "overloaded":
      return "failed or is overloaded";
    case "timeout":
      return "took too long";
    case "context_overflow":
      return "says that the conversation is too long for the model";
    case "not_found":
      return `does not know the model or the address ${context.apiBase}`;
    case "bad_request":
      return "refused the request";
    case "network":
    case "garbage":
    case "circuit_open":
      return "failed";
    default:
      return kind satisfies never;
  }
}

function advice(kind: ProviderErrorKind, { provider }: FailureContext): string {
  if (kind === "auth") return ` Check providers.${provider}.apiKey.`;
  if (kind === "billing") return ` Top up the account of ${provider}, or choose another model.`;
  if (kind === "not_found") return ` Check the model's name and providers.${provider}.apiBase.`;
  return "";
}

function networkError(error: unknown, context: FailureContext): ProviderError {
  const root = rootOf(error);
  const reason = shortened(withoutSecrets(wordsOf(root), context.secrets));
  return new ProviderError(`The connection to ${context.provider} at ${context.apiBase} failed: ${reason}`, {
    kind: "network",
    provider: context.provider,
    unreached: unreachedBy(codeOf(root)),
  });
}

/** fetch hides what happened two causes down; where several addresses were tried, each has its own. */
function rootOf(error: unknown): unknown {
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth += 1) {
    const below = current instanceof AggregateError && current.errors.length > 0 ? current.errors[0] : current.cause;
    if (!(below instanceof Error)) break;
    current = below;
  }
  return current;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

function wordsOf(error: unknown): string {
  const code = codeOf(error);
  const message = messageOf(error);
  return message.includes(code) ? message : `${code} ${message}`.trim();
}

const shownLength = 600;

function shortened(text: string): string {
  return text.length > shownLength ? `${text.slice(0, shownLength)}…` : text;
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) if (secret !== "") clean = clean.replaceAll(secret, "***");
  return clean
    .replace(/\bsk-[\w*.-]{6,}/g, "sk-***")
    .replace(/\s+/g, " ")
    .trim();
}
