import { outboundQueued } from "../../bus/message-bus.js";
import type { InboundMessage } from "../../bus/messages.js";
import type { Work } from "../../engine/engine.js";
import { noUsage, type Usage } from "../../events/content.js";
import type { EventDraft } from "../../events/event.js";
import type { FailedTurn } from "../../events/retries/trail.js";
import { newId } from "../../util/ids.js";
import type { ChatPorts } from "../ports.js";
import type { TurnLog } from "./turn-log.js";

/** What an answer has used. */
export interface Spent {
  /** Label of the model. */
  readonly model: string;
  readonly usage: Usage;
  readonly costUsd: number | undefined;
}

/** A sentence of the gateway's own: shown like an answer, and never part of what the model sees. */
export function noticeMessage(
  log: TurnLog,
  text: string,
  spent: Spent = { model: "none", usage: noUsage, costUsd: undefined },
  answers?: string,
): { readonly id: string; readonly draft: EventDraft } {
  const id = newId("msg");
  const payload = {
    message_id: id,
    content: [{ type: "text" as const, text }],
    model: spent.model,
    iteration: 0,
    stop_reason: "end_turn" as const,
    usage: spent.usage,
    cost_usd: spent.costUsd,
    final: true,
    partial: false,
    answers,
  };
  return { id, draft: log.draft("assistant_message", payload, "gateway") };
}

/** Whether an owner reads what is sent: an answer that goes to another chat too is read there by whose chat that is. */
export function isReadByOwner({ isOwner }: Pick<ChatPorts, "isOwner">, message: InboundMessage): boolean {
  const { answersTo } = message;
  return answersTo === undefined
    ? isOwner(message.channel, message.senderId)
    : isOwner(answersTo.channel, answersTo.chatId);
}

/** The message as its answer is sent: it may be shown below what was asked. */
export function asAnswered(message: InboundMessage, retried: FailedTurn | undefined): InboundMessage {
  return retried === undefined ? message : { ...message, content: retried.message.content };
}

export function queuedReplies(log: TurnLog, replies: readonly Work<"outbound">[]): EventDraft[] {
  return replies.map((work) => log.adopt(outboundQueued(work.body, undefined)));
}
