import { z } from "zod";
import type { TurnOutcome } from "../api/gateway-api.js";
import { isAbortError, RequestError } from "../errors.js";
import { newId } from "../util/ids.js";
import { sleep } from "../util/sleep.js";
import { createAnswerProjection } from "./answer-projection.js";
import { openEventStream } from "./event-stream.js";
import { bodyOf, type Exchange, lastSequenceOf, sendJson } from "./exchange.js";
import { toFaultReply } from "./faults.js";
import type { Route } from "./routes.js";

const part = z.union([
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.string() }).transform(() => undefined),
]);
const message = z.object({ role: z.string(), content: z.union([z.string(), z.array(part)]).nullish() });
const completionBody = z.object({
  model: z.string().max(200).optional(),
  messages: z.array(message).min(1).max(10_000),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  user: z.string().max(200).nullish(),
});

/** The one model that is offered: the assistant, with its memory, skills and tools. */
const modelName = "maxclaw";
const lastEventsMs = 2000;

/**
 * OpenAI's chat completions as one more mouth of the assistant. The conversation is kept here: of the request only the
 * last user message counts, and `X-Maxclaw-Session` or `user` says which conversation it belongs to.
 */
export const openAIRoutes: readonly Route[] = [
  { method: "POST", path: "/v1/chat/completions", handle: (x) => speakingOpenAI(x, complete) },
  { method: "GET", path: "/v1/models", handle: (x) => sendJson(x.response, 200, { object: "list", data: [aModel] }) },
  { method: "GET", path: "/v1/models/:id", handle: oneModel },
];

const aModel = { id: modelName, object: "model", created: 0, owned_by: "maxclaw" };

function oneModel(x: Exchange): void {
  if (x.params.id === modelName) sendJson(x.response, 200, aModel);
  else sendError(x, new RequestError(`There is no model ${x.params.id}.`, { status: 404, code: "model_not_found" }));
}

/** Its clients look for `error.message`. */
async function speakingOpenAI(x: Exchange, handle: (x: Exchange) => Promise<void>): Promise<void> {
  try {
    await handle(x);
  } catch (error) {
    if (x.response.destroyed || (isAbortError(error) && x.signal.aborted)) return;
    sendError(x, error);
  }
}

function sendError(x: Exchange, error: unknown): void {
  const { status, code, error: text, retryAfterMs } = toFaultReply(error, x.settings.log);
  if (retryAfterMs !== undefined && !x.response.headersSent)
    x.response.setHeader("Retry-After", Math.max(1, Math.ceil(retryAfterMs / 1000)));
  sendJson(x.response, status, { error: { message: text, type: errorType(status), param: null, code } });
}

function errorType(status: number): string {
  return status === 429 ? "rate_limit_error" : status < 500 ? "invalid_request_error" : "server_error";
}

async function complete(x: Exchange): Promise<void> {
  const body = await bodyOf(x, completionBody);
  const sessionKey = sessionOf(x, body.user ?? undefined);
  const content = lastUserText(body.messages);
  if (body.stream !== true) {
    const { messageId } = await x.api.send({ sessionKey, content, messageId: idOf(x) });
    const outcome = await x.api.waitForTurn(sessionKey, messageId, x.signal);
    const usage = toUsage(outcome);
    const choice = { index: 0, message: { role: "assistant", content: answerOf(outcome), refusal: null } };
    return sendJson(x.response, 200, {
      ...head("chat.completion", messageId),
      choices: [{ ...choice, logprobs: null, finish_reason: finishOf(outcome) }],
      usage,
    });
  }
  await stream(x, { sessionKey, content, includeUsage: body.stream_options?.include_usage === true });
}

async function stream(
  x: Exchange,
  { sessionKey, content, includeUsage }: { sessionKey: string; content: string; includeUsage: boolean },
): Promise<void> {
  const before = await lastSequenceOf(x, sessionKey);
  const { messageId, status } = await x.api.send({ sessionKey, content, messageId: idOf(x) });
  using out = openEventStream(x);
  const same = head("chat.completion.chunk", messageId);
  const send = (delta: object, finish: string | null): Promise<void> | undefined =>
    out.send({
      data: JSON.stringify({ ...same, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] }),
    });

  const projection = createAnswerProjection(messageId);
  const seenAll = new AbortController();
  let lastIteration: number | undefined;
  let isTold = false;
  void send({ role: "assistant", content: "" }, null);
  const subscription = x.api.subscribe(sessionKey, { fromSequence: status === "duplicate" ? 0 : before }, (event) => {
    let slow: Promise<void> | undefined;
    for (const frame of projection.next(event)) {
      if (frame.type !== "content_delta") continue;
      // What was said before and after tools are paragraphs of one answer.
      const isNext = lastIteration !== undefined && lastIteration !== frame.iteration;
      lastIteration = frame.iteration;
      isTold = true;
      slow = send({ content: `${isNext ? "\n\n" : ""}${frame.delta ?? ""}` }, null);
    }
    if (projection.isOver()) seenAll.abort();
    return slow;
  });
  try {
    const outcome = await x.api.waitForTurn(sessionKey, messageId, x.signal);
    await sleep(lastEventsMs, seenAll.signal).catch(() => {});
    if (!isTold || outcome.end === "failed")
      void send({ content: `${isTold ? "\n\n" : ""}${answerOf(outcome)}` }, null);
    void send({}, finishOf(outcome));
    if (includeUsage) void out.send({ data: JSON.stringify({ ...same, choices: [], usage: toUsage(outcome) }) });
    void out.send({ data: "[DONE]" });
  } finally {
    subscription.close();
  }
}

function head(object: string, messageId: string) {
  return { id: `chatcmpl-${messageId}`, object, created: Math.floor(Date.now() / 1000), model: modelName };
}

function answerOf({ response }: TurnOutcome): string {
  return response;
}

function finishOf({ stopReason }: TurnOutcome): "stop" | "length" {
  return stopReason === "max_tokens" || stopReason === "max_iterations" ? "length" : "stop";
}

function toUsage({ usage }: TurnOutcome) {
  const prompt = (usage?.input_tokens ?? 0) + (usage?.cache_read_tokens ?? 0) + (usage?.cache_write_tokens ?? 0);
  const completion = usage?.output_tokens ?? 0;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: usage?.cache_read_tokens ?? 0 },
  };
}

type Message = z.infer<typeof message>;

function lastUserText(messages: readonly Message[]): string {
  const last = messages.findLast(({ role }) => role === "user");
  if (last === undefined) throw badRequest("The request holds no user message.");
  if (typeof last.content === "string") return last.content;
  const parts = last.content ?? [];
  if (parts.some((one) => one === undefined)) throw badRequest("Only text is taken here, no images or files.");
  return parts.map((one) => one?.text ?? "").join("\n\n");
}

function sessionOf(x: Exchange, user: string | undefined): string {
  const named = x.request.headers["x-maxclaw-session"];
  if (typeof named === "string" && named !== "") return named;
  return `openai:${user === undefined || user === "" ? "default" : user}`;
}

/** Makes the request safe to repeat. */
function idOf(x: Exchange): string {
  const given = x.request.headers["idempotency-key"];
  return typeof given === "string" && /^.{1,200}$/.test(given) ? given : newId("msg");
}

function badRequest(text: string): RequestError {
  return new RequestError(text, { status: 400, code: "bad_request" });
}
