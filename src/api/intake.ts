import type { OpenQuestions } from "../agent/open-questions.js";
import type { MessageBus } from "../bus/message-bus.js";
import type { InboundMessage } from "../bus/messages.js";
import type { PressOutcome, PublishOutcome, ReceivedMessage, ReceivedPress } from "../channels/channel.js";
import { EngineError, messageOf } from "../errors.js";
import { sessionKeyOf } from "../events/session-key.js";
import type { Logger } from "../log.js";
import type { Pairing } from "../policy/pairing.js";
import type { Policy } from "../policy/policy.js";
import { newId } from "../util/ids.js";
import type { Answers } from "./answers.js";

export interface IntakePorts {
  readonly bus: MessageBus;
  readonly policy: Policy;
  readonly pairing: Pairing;
  readonly questions: Pick<OpenQuestions, "screen" | "routeOf">;
  readonly answers: Answers;
  /** Brings older history of the chat in before its first message is stored. */
  readonly prepareSession: (sessionKey: string) => Promise<void>;
  /** Unix ms. */
  readonly now: () => number;
  readonly log: Logger;
}

/** The one door through which messages come in, whatever the route. */
export interface Intake {
  /** A channel's message. Resolves once it is durable, or says why it is not taken. */
  receive(channel: string, received: ReceivedMessage): Promise<PublishOutcome>;
  /** A pressed button: the answer to a question. Never rejects. */
  press(channel: string, press: ReceivedPress): Promise<PressOutcome>;
  /** A message of an owner who has been identified otherwise (page, terminal, HTTP). @throws {EngineError} */
  submit(message: InboundMessage): Promise<"accepted" | "duplicate">;
}

const busy = "I have too much waiting at the moment. Please send this again in a minute.";
const noDisk = "I cannot write to my disk right now, so I have not taken this. Please try again later.";

export function createIntake(ports: IntakePorts): Intake {
  const { bus, policy, pairing, questions, answers, prepareSession, now, log } = ports;
  const publish = async (
    message: InboundMessage,
    cursor: ReceivedMessage["cursor"],
  ): Promise<"accepted" | "duplicate"> => {
    try {
      await prepareSession(message.sessionKey);
    } catch (error) {
      // Whatever is wrong with its past, the message itself can be kept; its turn says what it could not read.
      log.warn(`The session of a message could not be read: ${messageOf(error)}`, { session: message.sessionKey });
    }
    return (await bus.publishInbound(message, cursor)).status;
  };
  return {
    async receive(channel, received) {
      const { senderId, chatType, addressed, senderName } = received;
      const decision = policy.maySpeak({ channel, senderId, chatType, addressed }, pairing.isPaired);
      if (!decision.allowed) {
        if (decision.reason !== "needs_pairing") return { status: "refused" };
        const { code, isNew } = await pairing.request(channel, senderId, senderName);
        log.info(`${channel}: sender ${senderId} asks to be paired`, { sender: senderId });
        return isNew ? { status: "refused", reply: pairingText(code) } : { status: "refused" };
      }
      const isOwner = decision.role === "owner";
      const responder = { channel, senderId, isOwner, isPrivate: false };
      const direct = toInbound(channel, received, now());
      const inbound = { ...direct, sessionKey: questions.routeOf(direct.sessionKey, direct.content, responder) };
      const refusal = questions.screen(inbound.sessionKey, inbound.content, responder);
      if (refusal !== undefined) return { status: "refused", reply: refusal };
      try {
        return { status: await publish(inbound, received.cursor) };
      } catch (error) {
        if (!(error instanceof EngineError) || error.kind === "corrupt") throw error;
        log.warn(`${channel}: a message was not taken: ${error.message}`, { sender: senderId });
        return { status: "busy", reply: replyFor(error) };
      }
    },
    async press(channel, { chatId, thread, chatType, senderId, value }) {
      const decision = policy.maySpeak({ channel, senderId, chatType, addressed: true }, pairing.isPaired);
      if (!decision.allowed) return { status: "refused", text: "You may not answer here." };
      const colon = value.indexOf(":");
      const request = {
        sessionKey: sessionKeyOf(channel, chatId, thread),
        requestId: value.slice(0, Math.max(0, colon)),
        text: value.slice(colon + 1),
      };
      try {
        const isOwner = decision.role === "owner";
        const outcome = await answers.answer(request, { channel, senderId, isOwner, isPrivate: false });
        return outcome.status === "taken" ? outcome : { status: "refused", text: outcome.reason };
      } catch (error) {
        log.warn(`${channel}: an answer could not be stored: ${messageOf(error)}`, { sender: senderId });
        return { status: "busy", text: "I could not write this down. Please press it again in a moment." };
      }
    },
    submit: (message) => publish(message, undefined),
  };
}

function replyFor(error: EngineError): string {
  if (error.kind === "persistence") return noDisk;
  // The platform gives it again at the next start: nobody has to send it twice.
  return error.kind === "closed" ? "" : busy;
}

function pairingText(code: string): string {
  return `I do not know you yet. Ask the owner of this assistant to run:\n\nmaxclaw pair approve ${code}\n\nThe code is valid for one hour.`;
}

function toInbound(channel: string, received: ReceivedMessage, receivedAt: number): InboundMessage {
  const { chatType: _chatType, addressed: _addressed, cursor: _cursor, ...rest } = received;
  return {
    ...rest,
    id: newId("msg"),
    channel,
    sessionKey: sessionKeyOf(channel, received.chatId, received.thread),
    receivedAt,
  };
}
