import type { Responder } from "../agent/questions/open-questions.js";
import type { PressOutcome, ReceivedPress } from "../channels/channel.js";
import { messageOf } from "../errors.js";
import { sessionKeyOf } from "../events/session-key.js";
import type { Logger } from "../log.js";
import type { AnswerRequest, Answers } from "./answers.js";

/** Answers the question that a pressed button belongs to. Never rejects. */
export async function answerByPress(
  press: ReceivedPress,
  from: Responder,
  { answers, log }: { readonly answers: Answers; readonly log: Logger },
): Promise<PressOutcome> {
  const { channel, senderId } = from;
  try {
    const outcome = await answers.answer(toAnswer(channel, press), from);
    return outcome.status === "taken" ? outcome : { status: "refused", text: outcome.reason };
  } catch (error) {
    log.warn(`${channel}: an answer could not be stored: ${messageOf(error)}`, { sender: senderId });
    return { status: "busy", text: "I could not save this. Please press it again in a moment." };
  }
}

/** A button's value is `<request id>:<answer>`. */
function toAnswer(channel: string, { chatId, thread, value }: ReceivedPress): AnswerRequest {
  const colon = value.indexOf(":");
  return {
    sessionKey: sessionKeyOf(channel, chatId, thread),
    requestId: value.slice(0, Math.max(0, colon)),
    text: value.slice(colon + 1),
  };
}
