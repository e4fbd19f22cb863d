import type { InboundMessage } from "../../bus/messages.js";
import type { Count, Work } from "../../engine/engine.js";
import type { EventDraft } from "../../events/event.js";
import type { ResidentSession } from "../../sessions/resident-session.js";
import type { AgentPorts } from "../ports.js";
import type { TurnLog } from "../turn/turn-log.js";

/** What a chat command works with. */
export interface CommandScope {
  readonly ports: Pick<
    AgentPorts,
    "models" | "budgets" | "context" | "tools" | "sessions" | "tasks" | "chat" | "commands"
  >;
  readonly session: ResidentSession;
  readonly message: InboundMessage;
  readonly log: TurnLog;
  readonly signal: AbortSignal;
}

export interface CommandOutcome {
  readonly reply: string;
  readonly events: readonly EventDraft[];
  /** What a model was asked for it. */
  readonly counts?: readonly Count[];
  /** What is accepted together with the answer, and the events that tell about it. */
  readonly emit?: readonly Work[];
  readonly accepted?: readonly EventDraft[];
}
