import type { InboundMessage } from "../../bus/messages.js";
import type { EventDraft } from "../../events/event.js";
import { isClosed } from "../../events/folds/session-state.js";
import type { ResidentSession } from "../../sessions/resident-session.js";
import { overSentence } from "../model/sentences.js";
import type { ChatPorts } from "../ports.js";
import type { TurnLog } from "../turn/turn-log.js";

/**
 * Leaves the last turn that the model sees out of everything but the log. Being a turn of its own, it waits for the one
 * that runs, and then takes that one back.
 */
export function undoLast(
  log: TurnLog,
  session: Pick<ResidentSession, "turns" | "document">,
  message: InboundMessage,
  isOwner: ChatPorts["isOwner"],
): { readonly reply: string; readonly events: readonly EventDraft[] } {
  const { state } = session.document;
  if (isClosed(state)) return { reply: overSentence(state), events: [] };
  const { last } = session.turns;
  if (last === undefined) return { reply: "There is nothing to undo.", events: [] };
  const { asker } = last;
  const isAsker = asker?.channel === message.channel && asker.senderId === message.senderId;
  if (!isAsker && !isOwner(message.channel, message.senderId))
    return { reply: "Somebody else asked that. Only that person or an owner can undo it.", events: [] };
  const quoted = last.text.trim() === "" ? "The last message" : `“${last.text.trim()}”`;
  const outlasts = last.usedTools ? " What its tools did stays done." : "";
  return {
    reply: `Undone. I no longer see ${quoted} and what followed it.${outlasts}`,
    events: [log.draft("session_history_changed", { kind: "undo", to_seq: last.beforeSeq })],
  };
}
