import type { z } from "zod";
import { gatewayEvents } from "./catalogue/gateway.js";
import { hitlEvents } from "./catalogue/hitl.js";
import { messageEvents } from "./catalogue/message.js";
import { planEvents } from "./catalogue/plan.js";
import type { agentStates, deliveryStatuses, EventSpec } from "./catalogue/spec.js";
import { stateEvents } from "./catalogue/state.js";
import { streamEvents } from "./catalogue/stream.js";
import { turnEvents } from "./catalogue/turn.js";
import { upkeepEvents } from "./catalogue/upkeep.js";

/** Every event type of the gateway, in the agreed order. Types, JSON schema and docs are derived from this one table. */
export const catalogue = {
  ...streamEvents,
  ...stateEvents,
  ...messageEvents,
  ...turnEvents,
  ...hitlEvents,
  ...gatewayEvents,
  ...planEvents,
  ...upkeepEvents,
} as const;

export type Catalogue = typeof catalogue;
export type EventType = keyof Catalogue;
export type Payload<T extends EventType> = z.infer<Catalogue[T]["payload"]>;

export type AgentState = (typeof agentStates)[number];
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** The catalogue's row for a type. */
export function specOf(type: EventType): EventSpec {
  return catalogue[type];
}

/** All types for which it is true, e.g. to listen to those alone. */
export function typesWhere(isWanted: (spec: EventSpec, type: EventType) => boolean): readonly EventType[] {
  // The catalogue's keys are the types.
  const types = Object.keys(catalogue) as EventType[];
  return types.filter((type) => isWanted(specOf(type), type));
}
