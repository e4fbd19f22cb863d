import { messageOf, ProviderError, type ProviderErrorKind } from "../errors.js";
import { toRetryAfterMs } from "./retry-after.js";

/** Whom a failed call was for, and what its error text must not show. */
export interface FailureContext {
  readonly provider: string;
  readonly apiBase: string;
  readonly secrets: readonly string[];
}

/** What the far side said about a failure. */
interface Report {
  readonly status: number | undefined;
  /** `type`, `code` and `status` of the body, in lower case. */
  readonly codes: string;
  readonly message: string;
}

/** Turns whatever a model call threw, or an error body that came with status 200, into a ProviderError. */
export function toProviderError(error: unknown, context: FailureContext): ProviderError {
  if (error instanceof ProviderError) return error;
  if (error instanceof SyntaxError) {
    return garbage(`${context.provider} sent broken JSON in the middle of its answer.`, true);
  }
  if (!isAnswer(error)) return networkError(error, context);
  const report = readReport(error.status, error.error, error.message);
  const kind = kindOf(report);
  const status = report.status;
  return new ProviderError(sentence(kind, report, context), {
    kind,
    status,
    retryAfterMs: toRetryAfterMs(error.headers, error.error, Date.now()),
  });
}

/** The answer was not one: `mayPass` when the next try may well be whole. */
export function garbage(message: string, mayPass: boolean): ProviderError {
  return new ProviderError(message, { kind: "garbage", retryable: mayPass });
}

/** What both SDKs throw once the server has said something. Their classes are not imported, so that neither SDK is. */
interface ErrorAnswer extends Error {
  readonly status: number | undefined;
  readonly headers: Headers | undefined;
  readonly error: unknown;
}

function isAnswer(error: unknown): error is ErrorAnswer {
  if (!(error instanceof Error) || !("status" in error) || !("error" in error)) return false;
  return typeof error.status === "number" || (error.error !== undefined && error.error !== null);
}

/** An error body that came with status 200, in the shape that the SDKs give to the others. */
export function errorInBody(body: unknown): Error {
  return Object.assign(new Error("error in the answer"), { status: undefined, headers: undefined, error: body });
}

function readReport(status: number | undefined, body: unknown, fallback: string): Report {
  let inner = body;
  for (let depth = 0; depth < 3 && isRecord(inner) && "error" in inner; depth += 1) inner = inner.error;
  if (!isRecord(inner)) return { status, codes: "", message: typeof inner === "string" ? inner : fallback };
  const words = [inner.type, inner.code, inner.status].filter((word) => typeof word === "string");
  const told = [inner.message, inner.msg, inner.detail].find((text) => typeof text === "string" && text !== "");
  return {
    // OpenRouter and others tell the status of a failure in mid-stream as the body's code.
    status: status ?? (typeof inner.code === "number" && inner.code >= 400 ? inner.code : undefined),
    codes: words.join(" ").toLowerCase(),
    message: typeof told === "string" ? told : JSON.stringify(inner),
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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
  if (status === undefined) return /invalid_request|bad_request/.test(codes) ? "bad_request" : "overloaded";
  return status >= 500 ? "overloaded" : "bad_request";
}

function sentence(kind: ProviderErrorKind, report: Report, context: FailureContext): string {
  const status = report.status === undefined ? "" : ` (HTTP ${report.status})`;
  const detail = withoutSecrets(report.message, context.secrets);
  return `${context.provider} ${what(kind, report, context)}${status}: ${detail}${advice(kind, context)}`;
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
  const reason = withoutSecrets(rootMessage(error), context.secrets);
  return new ProviderError(`The connection to ${context.provider} at ${context.apiBase} failed: ${reason}`, {
    kind: "network",
  });
}

/** fetch hides what happened two causes down. */
function rootMessage(error: unknown): string {
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error && current.cause instanceof Error; depth += 1) {
    current = current.cause;
  }
  const code = current instanceof Error && "code" in current && typeof current.code === "string" ? current.code : "";
  const message = messageOf(current);
  return message.includes(code) ? message : `${code} ${message}`.trim();
}

const detailLength = 600;

function withoutSecrets(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) if (secret !== "") clean = clean.replaceAll(secret, "***");
  clean = clean
    .replace(/\bsk-[\w*.-]{6,}/g, "sk-***")
    .replace(/\s+/g, " ")
    .trim();
  return clean.length > detailLength ? `${clean.slice(0, detailLength)}…` : clean;
}
