import type { ProviderErrorKind } from "../../../src/errors.js";

/** How servers that people use say that a call has failed, each in a few words of our own. */
export interface ErrorShape {
  readonly name: string;
  readonly status: number;
  readonly type?: string;
  readonly body: unknown;
  readonly kind: ProviderErrorKind;
  /** What the failure's message has to say. */
  readonly says: RegExp;
}

const words = "the model is too small";
const says = /the model is too small/;

export const errorShapes: readonly ErrorShape[] = [
  {
    name: "OpenAI",
    status: 400,
    body: { error: { message: words, type: "invalid_request_error", code: null } },
    kind: "bad_request",
    says,
  },
  {
    name: "Gemini's list",
    status: 400,
    body: [{ error: { code: 400, message: words, status: "INVALID_ARGUMENT" } }],
    kind: "bad_request",
    says,
  },
  {
    name: "vLLM",
    status: 400,
    body: { object: "error", message: words, type: "BadRequestError", code: 400 },
    kind: "bad_request",
    says,
  },
  { name: "FastAPI", status: 400, body: { detail: words }, kind: "bad_request", says },
  {
    name: "FastAPI's list",
    status: 422,
    body: { detail: [{ loc: ["body", "model"], msg: words, type: "value_error" }] },
    kind: "bad_request",
    says,
  },
  {
    name: "a detail that is an object",
    status: 400,
    body: { detail: { error: { message: words } } },
    kind: "bad_request",
    says,
  },
  { name: "a bare message", status: 400, body: { message: words, request_id: "r1" }, kind: "bad_request", says },
  { name: "an error that is text", status: 400, body: { error: words }, kind: "bad_request", says },
  {
    name: "a list of errors",
    status: 400,
    body: { errors: [{ code: 7003, message: words }], success: false },
    kind: "bad_request",
    says,
  },
  { name: "a list of texts", status: 400, body: { errors: [words] }, kind: "bad_request", says },
  { name: "error_msg", status: 400, body: { error_code: 17, error_msg: words }, kind: "bad_request", says },
  { name: "msg", status: 500, body: { code: 500, msg: words, success: false }, kind: "overloaded", says },
  {
    name: "JSON within the message",
    status: 400,
    body: { error: { message: JSON.stringify({ error: { message: words, status: "INVALID_ARGUMENT" } }) } },
    kind: "bad_request",
    says: /: the model is too small$/,
  },
  {
    name: "OpenRouter's raw answer of another",
    status: 400,
    body: {
      error: {
        code: 400,
        message: "Provider returned error",
        metadata: { raw: JSON.stringify({ error: { message: words } }), provider_name: "x" },
      },
    },
    kind: "bad_request",
    says: /Provider returned error.*the model is too small/,
  },
  {
    name: "Anthropic",
    status: 400,
    body: { type: "error", error: { type: "invalid_request_error", message: words } },
    kind: "bad_request",
    says,
  },
  { name: "plain text", status: 502, type: "text/plain", body: words, kind: "overloaded", says },
  {
    name: "a proxy's page",
    status: 502,
    type: "text/html",
    body: `<html><head><title>502 Bad Gateway</title><style>b{}</style></head><body><h1>nginx</h1></body></html>`,
    kind: "overloaded",
    says: /a web page: 502 Bad Gateway(?!.*<)/,
  },
  {
    name: "nothing at all",
    status: 503,
    type: "text/plain",
    body: "",
    kind: "overloaded",
    says: /HTTP 503\): no reason was given/,
  },
  { name: "an empty object", status: 400, body: {}, kind: "bad_request", says: /no reason was given/ },
  {
    name: "another service's key refused, in a list",
    status: 400,
    body: [{ error: { message: "API key not valid. Please pass a valid API key.", status: "INVALID_ARGUMENT" } }],
    kind: "auth",
    says: /API key not valid/,
  },
  {
    name: "no credit, in detail",
    status: 400,
    body: { detail: "insufficient balance" },
    kind: "billing",
    says: /insufficient balance/,
  },
  {
    name: "too long, in a bare message",
    status: 400,
    body: { message: "maximum context length is 8192 tokens" },
    kind: "context_overflow",
    says: /maximum context length/,
  },
  {
    name: "status 200 with a list",
    status: 200,
    body: [{ error: { code: 429, message: words, status: "RESOURCE_EXHAUSTED" } }],
    kind: "rate_limit",
    says,
  },
  {
    name: "status 200 with object error",
    status: 200,
    body: { object: "error", message: words, code: 400 },
    kind: "bad_request",
    says,
  },
  { name: "status 200 with a detail", status: 200, body: { detail: words }, kind: "overloaded", says },
  {
    name: "status 200 with base_resp",
    status: 200,
    body: { choices: null, base_resp: { status_code: 1004, status_msg: words } },
    kind: "overloaded",
    says,
  },
  {
    name: "status 200 with a page",
    status: 200,
    type: "text/plain",
    body: "<!DOCTYPE html><title>Sign in</title>",
    kind: "garbage",
    says: /web page.*apiBase/,
  },
  {
    name: "status 200 with nothing",
    status: 200,
    type: "application/json",
    body: "",
    kind: "garbage",
    says: /empty answer/,
  },
  {
    name: "an error in a stream",
    status: 200,
    type: "text/event-stream",
    body: `data: {"error":{"message":"${words}","code":500}}\n\n`,
    kind: "overloaded",
    says,
  },
  {
    name: "a list in a stream",
    status: 200,
    type: "text/event-stream",
    body: `data: [{"error":{"message":"${words}","code":500}}]\n\n`,
    kind: "overloaded",
    says,
  },
  {
    name: "object error in a stream",
    status: 200,
    type: "text/event-stream",
    body: `data: {"object":"error","message":"${words}","code":400}\n\n`,
    kind: "bad_request",
    says,
  },
  {
    name: "event: error in a stream",
    status: 200,
    type: "text/event-stream",
    body: `event: error\ndata: {"message":"${words}"}\n\n`,
    kind: "overloaded",
    says,
  },
  {
    name: "event: error with text in a stream",
    status: 200,
    type: "text/event-stream",
    body: `event: error\ndata: ${words}\n\n`,
    kind: "overloaded",
    says,
  },
  {
    name: "bare JSON in a stream",
    status: 200,
    type: "text/event-stream",
    body: `: on my way\n\n{"error":{"message":"${words}","code":503}}\n`,
    kind: "overloaded",
    says,
  },
  {
    name: "a bare detail in a stream",
    status: 200,
    type: "text/event-stream",
    body: `data: {"detail":"${words}"}\n\n`,
    kind: "overloaded",
    says,
  },
];
