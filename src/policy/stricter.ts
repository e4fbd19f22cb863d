import type { ToolDecision } from "./access.js";

/** Of two decisions on the same use the one that allows less. What is said to people and to the model is of the first. */
export function stricterOf(now: ToolDecision, before: ToolDecision): ToolDecision {
  if (now.verdict === "deny") return now;
  if (before.verdict === "deny") return before;
  if (now.verdict === "ask" && before.verdict === "ask") {
    const approver = now.approver === "owner" || before.approver === "owner" ? "owner" : "asker";
    return { ...now, approver, canGrant: now.canGrant && before.canGrant };
  }
  if (now.verdict === "ask") return now;
  // Whatever nobody has looked at counts as that.
  return before.verdict === "ask" || before.by !== undefined ? before : now;
}
