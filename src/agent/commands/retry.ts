import { retryMessage } from "../../events/retries/message.js";
import { retryWork } from "../turn/retry/retry-work.js";
import type { CommandOutcome, CommandScope } from "./scope.js";

/** Has the last turn tried again, where it has failed: as a turn of its own, in the name of who had asked. */
export function runRetryCommand({ session, message, ports }: CommandScope): CommandOutcome {
  const { failed } = session.retries;
  if (failed === undefined)
    return { reply: "There is nothing to try again: the last answer did not fail.", events: [] };
  const { channel, senderId } = failed.message;
  const isAsker = channel === message.channel && senderId === message.senderId;
  if (!isAsker && !ports.chat.isOwner(message.channel, message.senderId))
    return { reply: "Somebody else asked that. Only that person or an owner can have it tried again.", events: [] };
  const { work, event } = retryWork(retryMessage(failed, { by: "person", id: `${message.id}-again`, now: Date.now() }));
  return { reply: "I am trying it again.", events: [], emit: [work], accepted: [event] };
}
