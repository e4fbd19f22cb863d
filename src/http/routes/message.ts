import { basename, extname } from "node:path";
import { z } from "zod";
import type { SendRequest, TurnOutcome } from "../../api/messages/messages-api.js";
import { isAbortError, RequestError } from "../../errors.js";
import { sleep } from "../../util/async/sleep.js";
import { contentTypeOf } from "../../util/files/content-types.js";
import { type AnswerFrame, createAnswerProjection } from "../answer-projection.js";
import { openEventStream } from "../event-stream.js";
import { bodyOf, type Exchange, lastSequenceOf, sendJson } from "../exchange.js";
import { toFaultReply } from "../faults.js";
import { isTrue } from "../target.js";
import type { Route } from "./routes.js";

const id = z.string().min(1).max(200);
const size = z.number().int().nonnegative();

/** A file that was uploaded before; the Go maxclaw's clients call its size `size`. */
export const attachmentBody = z
  .object({
    path: z.string().min(1).max(4096),
    filename: z.string().min(1).max(255).optional(),
    mimeType: z.string().max(200).optional(),
    sizeBytes: size.optional(),
    size: size.optional(),
  })
  .transform((file) => ({
    path: file.path,
    filename: file.filename ?? basename(file.path),
    mimeType: file.mimeType ?? contentTypeOf(extname(file.filename ?? file.path)),
    sizeBytes: file.sizeBytes ?? file.size ?? 0,
  }));

const messageBody = z.object({
  sessionKey: z.string().min(1).max(300).default("webui:default"),
  content: z.string(),
  channel: z.string().max(100).optional(),
  chatId: z.string().max(300).optional(),
  selectedSkills: z.array(z.string().max(200)).max(100).optional(),
  attachments: z.array(attachmentBody).max(20).optional(),
  stream: z.boolean().optional(),
  messageId: id.optional(),
  mode: z.enum(["next", "append", "cancel"]).optional(),
});

export const messageRoutes: readonly Route[] = [{ method: "POST", path: "/api/message", handle: postMessage }];

/** How long the answer stream waits for the last events of a turn that is known to have ended. */
const lastEventsMs = 2000;

async function postMessage(x: Exchange): Promise<void> {
  const { stream, ...body } = await bodyOf(x, messageBody);
  const request: SendRequest = { ...body, messageId: messageIdOf(x, body.messageId) };
  const wantsStream =
    stream === true ||
    isTrue(x.target.query.get("stream")) ||
    (x.request.headers.accept ?? "").toLowerCase().includes("text/event-stream");
  if (wantsStream) return streamAnswer(x, request);
  const { messageId } = await x.api.send(request);
  // The signal ends the waiting only: a turn goes on without its listeners.
  const outcome = await x.api.waitForTurn(request.sessionKey, messageId, x.signal);
  sendJson(x.response, 200, {
    response: outcome.response,
    sessionKey: request.sessionKey,
    messageId,
    end: outcome.end,
  });
}

function messageIdOf(x: Exchange, inBody: string | undefined): string | undefined {
  const header = x.request.headers["idempotency-key"];
  if (header === undefined) return inBody;
  const parsed = id.safeParse(header);
  if (!parsed.success || (inBody !== undefined && inBody !== parsed.data))
    throw new RequestError(
      "Idempotency-Key: must have 1 to 200 characters, and be equal to messageId if both are sent.",
      {
        status: 400,
        code: "bad_request",
      },
    );
  return parsed.data;
}

async function streamAnswer(x: Exchange, request: SendRequest): Promise<void> {
  using out = openEventStream(x);
  const { sessionKey } = request;
  const before = await lastSequenceOf(x, sessionKey);
  const { messageId, status } = await x.api.send(request);
  const send = (frame: AnswerFrame): Promise<void> | undefined =>
    out.send({ event: frame.type, data: JSON.stringify(frame) });

  const projection = createAnswerProjection(messageId);
  const seenAll = new AbortController();
  // A repeated message may have been answered long ago: its turn is looked for in the whole log.
  const subscription = x.api.subscribe(sessionKey, { fromSequence: status === "duplicate" ? 0 : before }, (event) => {
    let slow: Promise<void> | undefined;
    for (const frame of projection.next(event)) slow = send(frame);
    if (projection.isOver()) seenAll.abort();
    return slow;
  });
  try {
    void send({ type: "status", message: "Accepted", sessionKey, messageId });
    const outcome = await x.api.waitForTurn(sessionKey, messageId, x.signal);
    await sleep(lastEventsMs, seenAll.signal).catch(() => {});
    void send(lastFrame(outcome, sessionKey, messageId));
  } catch (error) {
    if (isAbortError(error) && x.response.destroyed) return;
    const fault = toFaultReply(error, x.settings.log);
    void send({ type: "error", error: fault.error, message: fault.error, sessionKey, messageId, done: true });
  } finally {
    subscription.close();
  }
  void out.send({ data: "[DONE]" });
}

function lastFrame(outcome: TurnOutcome, sessionKey: string, messageId: string): AnswerFrame {
  return outcome.end === "failed"
    ? { type: "error", error: outcome.response, message: outcome.response, sessionKey, messageId, done: true }
    : { type: "final", response: outcome.response, sessionKey, messageId, done: true };
}
