import type { RetryPorts } from "../../api/turns/retry-turn.js";
import { isGroup } from "../../bus/replies.js";
import type { Assistant } from "../assistant/assistant.js";

/** What trying a failed turn again needs of who talks. */
export function retryPorts({
  people,
  inbound,
}: Pick<Assistant, "people" | "inbound">): Omit<RetryPorts, "engine" | "sessions"> {
  const isPaired = (channel: string, senderId: string): boolean => people.pairing.isPaired(channel, senderId);
  return {
    again: (message, mayStill) => inbound.intake.again(message, mayStill),
    maySpeak(message) {
      const { channel, chatId, senderId } = message;
      const chatType = isGroup(message) ? "group" : "dm";
      return people.policy.maySpeak({ channel, chatId, senderId, chatType, addressed: true }, isPaired).allowed;
    },
  };
}
