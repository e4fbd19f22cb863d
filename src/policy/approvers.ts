import type { Approver, ToolUse } from "./access.js";

/**
 * Whose yes counts. A guest's opens nothing that is shared: it counts for what leaves their own chat, in which nobody
 * else has said anything, and for jobs and memories that come back to the chat. What a rule asks about is for owners.
 */
export function approverOf({ speaker, access }: ToolUse, isByRule: boolean): Approver {
  if (speaker.role === "owner") return "asker";
  if (isByRule) return "owner";
  switch (access.kind) {
    case "network":
      return speaker.chatType === "dm" ? "asker" : "owner";
    case "schedule":
      return "asker";
    case "memory":
      return access.of === "chat" ? "asker" : "owner";
    default:
      return "owner";
  }
}
