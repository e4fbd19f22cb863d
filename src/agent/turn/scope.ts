import type { Delivery } from "../../engine/engine.js";
import type { Machines } from "../../events/machines/run-machines.js";
import type { ResidentSession } from "../../sessions/resident-session.js";
import type { PlanOpening } from "../commands/plan.js";
import type { AgentOptions, AgentPorts } from "../ports.js";

/** What a turn works with. */
export interface TurnScope {
  readonly ports: AgentPorts;
  readonly options: AgentOptions;
  readonly delivery: Delivery<"inbound">;
  readonly session: ResidentSession;
  readonly machines: Machines;
  /** What a plan command begins the turn with. */
  readonly opening?: PlanOpening | undefined;
}

/** What is left when even the session cannot be read. */
export interface BuryScope extends Omit<TurnScope, "session"> {
  readonly session: Pick<ResidentSession, "agentId" | "agentState" | "openTurn"> &
    Partial<Pick<ResidentSession, "history" | "retries">> & {
      readonly messages: Pick<ResidentSession["messages"], "queued">;
      readonly document: { readonly state: string };
    };
}
