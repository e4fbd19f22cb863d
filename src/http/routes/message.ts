import { z } from "zod";
import type { TurnOutcome } from "../../api/messages/messages-api.js";
import { isAbortError, RequestError } from "../../errors.js";
import { sleep } from "../../util/async/sleep.js";
import { type AnswerFrame, createAnswerProjection } from "../answer-projection.js";
import { openEventStream } from "../event-stream.js";
import { bodyOf, type Exchange, lastSequenceOf, sendJson } from "../exchange.js";
import { toFaultReply } from "../faults.js";
import { isTrue } from "../target.js";
import type { Route } from "./routes.js";

const id = z.string().min(1).max(200);
/** What the transport looks at; the command checks the rest. */
const messageBody = z.looseObject({
  sessionKey: z.string().default("webui:default"),
  stream: z.boolean().optional(),
});

export const messageRoutes: readonly Route[] = [{ method: "POST", path: "/api/message", handle: postMessage }];

/** How long the answer stream waits for the last events of a turn that is known to have ended. */
const lastEventsMs = 2000;

async function postMessage(x: Exchange): Promise<void> {
  const { stream, ...body } = await bodyOf(x, messageBody);
  const request = { ...body, messageId: messageIdOf(x, body.messageId) };
  const wantsStream =
    stream === true ||
    isTrue(x.target.query.get("stream")) ||
    (x.request.headers.accept ?? "").toLowerCase().includes("text/event-stream");
  if (wantsStream) return streamAnswer(x, request);
  const { sessionKey, messageId } = await x.api.request("message_send", request);
  // The signal ends the waiting only: a turn goes on without its listeners.
  const { response, end } = await x.api.waitForTurn(sessionKey, messageId, x.signal);
  sendJson(x.response, 200, { response, sessionKey, messageId, end });
}

function messageIdOf(x: Exchange, inBody: unknown): unknown {
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

async function streamAnswer(x: Exchange, request: { readonly sessionKey: string }): Promise<void> {
  using out = openEventStream(x);
  const { sessionKey } = request;
  const before = await lastSequenceOf(x, sessionKey);
  const { messageId, status } = await x.api.request("message_send", request);
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
