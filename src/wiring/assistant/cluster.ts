import { z } from "zod";
import type { Responder } from "../../agent/questions/open-questions.js";
import { SharedQuestions } from "../../agent/questions/shared-questions.js";
import type { StopMode } from "../../agent/turn/ending/interruption.js";
import { endOfTurn } from "../../api/turns/end-of-turn.js";
import type { AnswerRequest } from "../../inbound/answers.js";
import type { Releases } from "../../util/async/releases.js";
import type { Core } from "../core/core.js";
import type { GatewayOptions } from "../options.js";
import { answerCall, type Inbound } from "./inbound.js";

const stopCall = "stop-turn";
/** A turn that is asked to stop has ended within this time, or its node is gone. */
const stopMs = 3000;

const stopBody = z.object({ sessionKey: z.string(), mode: z.custom<StopMode>((value) => typeof value === "string") });
// Both were made by a node of this cluster.
const answerBody = z.object({
  request: z.custom<AnswerRequest>((value) => typeof value === "object" && value !== null && "requestId" in value),
  responder: z.custom<Responder>((value) => typeof value === "object" && value !== null && "senderId" in value),
});

/** What is in the process of one node, for the others: its turns and the questions that they ask. */
export async function openSharedTurns(
  { log }: GatewayOptions,
  { engine, events, sessions, process }: Core,
  { questions, answers, running }: Inbound,
  releases: Releases,
): Promise<void> {
  const { nodes, instanceId } = process;
  if (nodes === undefined) return;
  const stopping = new AbortController();
  const records = await engine.records.open("open_question");
  const shared = new SharedQuestions({ questions, records, events, instanceId, signal: stopping.signal, log });
  const undo = events.on(
    "session_state_changed",
    ({ session_key: key, payload: { to } }) => {
      if (to === "deleted") running.stop(key, "stop");
    },
    { filter: ({ metadata }) => metadata.instance_id !== instanceId },
  );
  nodes.handle(answerCall, async (body) => {
    const { request, responder } = answerBody.parse(body);
    return questions.isOwn(request.requestId) ? await answers.answer(request, responder) : undefined;
  });
  nodes.handle(stopCall, async (body) => {
    const { sessionKey, mode } = stopBody.parse(body);
    if (!running.stop(sessionKey, mode)) return undefined;
    await endOfTurn(running, sessionKey);
    return true;
  });
  running.useOthers(async (sessionKey, mode) => {
    // Nobody is asked about a turn that no log tells about.
    if ((await sessions.open(sessionKey)).openTurn.length === 0) return false;
    return (await nodes.ask(stopCall, { sessionKey, mode }, stopMs)) === true;
  });
  releases.defer(() => {
    stopping.abort(new DOMException("The gateway is stopping", "AbortError"));
    shared[Symbol.dispose]();
    undo();
  }, "turns of other nodes");
}
