import { z } from "zod";
import { checked } from "../../api/commands/checked.js";
import type { Subscription } from "../../api/messages/events-api.js";
import type { TurnOutcome } from "../../api/messages/messages-api.js";
import type { WaitingQuestion } from "../../api/policy/policy-api.js";
import { RequestError } from "../../errors.js";
import type { Usage } from "../../events/content.js";
import type { GatewayEvent } from "../../events/event.js";
import { linked } from "../../util/async/linked.js";
import { sleep } from "../../util/async/sleep.js";
import { newId } from "../../util/ids.js";
import { slashWordOf } from "../../util/text/slash-word.js";
import { visibleJson } from "../../util/text/visible.js";
import { createAnswerProjection } from "../answer-projection.js";
import { openEventStream } from "../event-stream.js";
import { type Exchange, lastSequenceOf, sendJson } from "../exchange.js";
import { type FaultReply, toFaultReply } from "../faults.js";
import { parseJson, readChunks } from "../json.js";
import { ConversationReader } from "../openai/conversation.js";
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
/** Clients send the whole history each time, some with its pictures. It is read past, not held. */
const maxHistoryBytes = 128 * 1024 * 1024;
const lastEventsMs = 2000;

/**
 * OpenAI's chat completions as one more mouth of the assistant. The conversation is kept here: of the request only what
 * the user has said last counts, and `X-Maxclaw-Session` or `user` says which conversation it belongs to.
 */
export const openAIRoutes: readonly Route[] = [
  { method: "POST", path: "/v1/chat/completions", handle: complete },
  { method: "GET", path: "/v1/models", handle: (x) => sendJson(x.response, 200, { object: "list", data: [aModel] }) },
  { method: "GET", path: "/v1/models/:id", handle: oneModel },
];

const aModel = { id: modelName, object: "model", created: 0, owned_by: "maxclaw" };

function oneModel(x: Exchange): void {
  if (x.params.id !== modelName)
    throw new RequestError(`There is no model ${x.params.id}.`, { status: 404, code: "model_not_found" });
  sendJson(x.response, 200, aModel);
}

/** A failure as OpenAI's clients read it, also of requests that reach no route. */
export function toOpenAIError({ status, code, error: text }: FaultReply): object {
  const type = status === 429 ? "rate_limit_error" : status < 500 ? "invalid_request_error" : "server_error";
  return { error: { message: text, type, param: null, code } };
}

async function complete(x: Exchange): Promise<void> {
  const body = await readConversation(x);
  const request: Ask = {
    sessionKey: sessionOf(x, body.user ?? undefined),
    content: newText(body.messages),
    messageId: idOf(x) ?? newId("msg"),
  };
  if (body.stream === true) return await stream(x, request, body.stream_options?.include_usage === true);
  const { content, finish, usage } = await follow(x, request, () => {});
  const choice = { index: 0, message: { role: "assistant", content, refusal: null } };
  sendJson(x.response, 200, {
    ...head("chat.completion", request.messageId),
    choices: [{ ...choice, logprobs: null, finish_reason: finish }],
    usage: toUsage(usage),
  });
}

/** Of the messages only those that count. @throws {RequestError} 400, 408, 413 */
async function readConversation(x: Exchange): Promise<z.infer<typeof completionBody>> {
  const reader = new ConversationReader(x.settings.limits.maxBodyBytes);
  const { requestTimeoutMs, uploadTimeoutMs } = x.settings.timings;
  const isLarge = Number(x.request.headers["content-length"] ?? 0) > x.settings.limits.maxBodyBytes;
  const timeoutMs = isLarge ? uploadTimeoutMs : requestTimeoutMs;
  const limits = { maxBodyBytes: maxHistoryBytes, requestTimeoutMs: timeoutMs, signal: x.signal };
  await readChunks(x.request, limits, (chunk) => reader.take(chunk));
  const { rest, messages } = reader.end();
  const body = parseJson(rest, z.looseObject({}));
  if (body.messages === null && messages !== undefined)
    return checked({ ...body, messages: parseJson(messages, z.array(z.unknown())) }, completionBody);
  return checked(body, completionBody);
}

async function stream(x: Exchange, request: Ask, includeUsage: boolean): Promise<void> {
  using out = openEventStream(x);
  const same = head("chat.completion.chunk", request.messageId);
  const send = (delta: object, finish: string | null): Promise<void> | undefined =>
    out.send({
      data: JSON.stringify({ ...same, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] }),
    });
  try {
    const { finish, usage } = await follow(
      x,
      request,
      (content) => send({ content }, null),
      () => void send({ role: "assistant", content: "" }, null),
    );
    void send({}, finish);
    if (includeUsage) void out.send({ data: JSON.stringify({ ...same, choices: [], usage: toUsage(usage) }) });
    void out.send({ data: "[DONE]" });
  } catch (error) {
    if (!x.response.headersSent || x.response.destroyed) throw error;
    // An answer that just ended here would look whole.
    void out.send({ data: JSON.stringify(toOpenAIError(toFaultReply(error, x.settings.log))) });
  }
}

interface Ask {
  readonly sessionKey: string;
  readonly content: string;
  readonly messageId: string;
}

interface Ending {
  /** As it counts in the end: without attempts that were given up, and without what was said before tools. */
  readonly content: string;
  readonly finish: "stop" | "length";
  readonly usage?: Usage | undefined;
}

/**
 * Hands the message in, and its answer on as it grows. A question to the person ends the answer: what they say next is
 * taken as theirs to it. Anyone who goes away before the end has stopped the turn, as with OpenAI, unless the request can be
 * repeated for its answer.
 */
async function follow(
  x: Exchange,
  { sessionKey, content, messageId }: Ask,
  onText: (text: string) => Promise<void> | undefined | void,
  onAccepted: () => void = () => {},
): Promise<Ending> {
  const isRepeatable = idOf(x) !== undefined;
  const before = await lastSequenceOf(x, sessionKey);
  const open = questionIn(x, sessionKey);
  const { status } = await x.api.send({ sessionKey, content, messageId });
  // OpenAI's SDKs try again by themselves: this would be one more message.
  if (!isRepeatable && !x.response.headersSent) x.response.setHeader("X-Should-Retry", "false");
  onAccepted();
  // A command is answered at once, whatever is asked.
  if (
    open !== undefined &&
    slashWordOf(content) === undefined &&
    questionIn(x, sessionKey)?.requestId === open.requestId
  ) {
    const content = questionText(open);
    void onText(content);
    return { content, finish: "stop" };
  }

  const projection = createAnswerProjection(messageId);
  const seenAll = new AbortController();
  using scope = linked(x.signal);
  let subscription: Subscription | undefined;
  let current: { readonly id: string; readonly text: string } | undefined;
  let hasText = false;
  let isOwn = false;
  /** What was said before and after tools are paragraphs of one answer, and so are attempts at it. */
  const say = (text: string, isParagraph = true): Promise<void> | undefined | void => {
    const gap = hasText && isParagraph ? "\n\n" : "";
    hasText = true;
    return onText(`${gap}${text}`);
  };
  try {
    return await new Promise<Ending>((resolve, reject) => {
      const onEvent = (event: GatewayEvent): Promise<void> | undefined => {
        let slow: Promise<void> | undefined | void;
        if (event.type === "turn_execution_start") isOwn = event.payload.message_ids.includes(messageId);
        if (event.type === "human_input_answered") isOwn ||= event.correlation_id === messageId;
        for (const { type, delta = "", humanInput } of projection.next(event)) {
          if (humanInput !== undefined) {
            const asked = questionIn(x, sessionKey);
            if (asked?.requestId !== humanInput.requestId) continue;
            const question = questionText(asked);
            slow = say(question);
            resolve({ content: current === undefined ? question : `${current.text}\n\n${question}`, finish: "stop" });
          } else if (type === "content_delta") {
            const id = messageOf(event);
            slow = say(delta, id !== undefined && id !== current?.id);
            if (id !== undefined) current = { id, text: id === current?.id ? current.text + delta : delta };
          }
        }
        if (projection.isOver()) seenAll.abort();
        return slow ?? undefined;
      };
      subscription = x.api.subscribe(sessionKey, { fromSequence: status === "duplicate" ? 0 : before }, onEvent);
      const end = async (): Promise<void> => {
        const outcome = await x.api.waitForTurn(sessionKey, messageId, scope.signal);
        await sleep(lastEventsMs, seenAll.signal).catch(() => {});
        const content = answerOf(outcome);
        if (!hasText || outcome.end === "failed") void say(content);
        resolve({ content, finish: finishOf(outcome), usage: outcome.usage });
      };
      end().catch(reject);
    });
  } catch (error) {
    if (x.response.destroyed && isOwn && !projection.isOver() && !isRepeatable)
      await x.api.stopTurn(sessionKey).catch(() => undefined);
    throw error;
  } finally {
    subscription?.close();
    scope.abort();
  }
}

/** Which of the assistant's messages this text belongs to. */
function messageOf(event: GatewayEvent): string | undefined {
  return event.type === "text_delta" || event.type === "assistant_message" ? event.payload.message_id : undefined;
}

function questionIn({ api }: Exchange, sessionKey: string): WaitingQuestion | undefined {
  return api.listQuestions().find((question) => question.sessionKey === sessionKey);
}

/** As a person can answer it in the next message. */
function questionText({ question, options, fields, allowCustom, input }: WaitingQuestion): string {
  const parts = [question];
  if (input !== undefined) parts.push(`\`\`\`\`json\n${visibleJson(input)}\n\`\`\`\``);
  if (options.length > 0) parts.push(options.map(({ label }, index) => `${index + 1}. ${label}`).join("\n"));
  if (fields.length > 0)
    parts.push(
      `Give ${fields.join(", ")} on the web page of this gateway, or with \`maxclaw answer\` in its terminal.`,
    );
  else if (allowCustom) parts.push("Please write your answer.");
  return parts.join("\n\n");
}

function head(object: string, messageId: string) {
  return { id: `chatcmpl-${messageId}`, object, created: Math.floor(Date.now() / 1000), model: modelName };
}

function answerOf({ response, end }: TurnOutcome): string {
  return response === "" && end === "cancelled" ? "Stopped." : response;
}

function finishOf({ stopReason }: TurnOutcome): "stop" | "length" {
  return stopReason === "max_tokens" || stopReason === "max_iterations" ? "length" : "stop";
}

function toUsage(usage: Usage | undefined) {
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

/** What the user has said since the assistant spoke last. The rest of the conversation is kept here. */
function newText(messages: readonly Message[]): string {
  const own = messages.filter(({ role }) => role !== "system" && role !== "developer");
  const said = own.slice(own.findLastIndex(({ role }) => role !== "user") + 1);
  if (said.length === 0)
    throw badRequest(
      own.length === 0
        ? "The request holds no user message."
        : "The last message must be the user's: the assistant keeps the conversation and calls its tools itself.",
    );
  return said.map(textOf).join("\n\n");
}

function textOf({ content }: Message): string {
  if (typeof content === "string") return content;
  const parts = content ?? [];
  if (parts.some((one) => one === undefined)) throw badRequest("Only text is taken here, no images or files.");
  return parts.map((one) => one?.text ?? "").join("\n\n");
}

function sessionOf(x: Exchange, user: string | undefined): string {
  const named = x.request.headers["x-maxclaw-session"];
  if (typeof named === "string" && named !== "") return named;
  return `openai:${user === undefined || user === "" ? "default" : user}`;
}

/** Makes the request safe to repeat. */
function idOf(x: Exchange): string | undefined {
  const given = x.request.headers["idempotency-key"];
  return typeof given === "string" && given !== "" ? given : undefined;
}

function badRequest(text: string): RequestError {
  return new RequestError(text, { status: 400, code: "bad_request" });
}
