import type { EventSpec } from "./catalogue/spec.js";
import { catalogue, type EventType } from "./catalogue.js";

function typesWhere(matches: (spec: EventSpec, type: EventType) => boolean): ReadonlySet<EventType> {
  // The keys of the catalogue are the event types, which Object.keys does not tell.
  const types = Object.keys(catalogue) as EventType[];
  return new Set(types.filter((type) => matches(catalogue[type], type)));
}

/** The stream layer: never in a log. */
export const deltaTypes = typesWhere((spec) => spec.layer === "stream");

/** Never sent to a client. */
export const internalTypes = typesWhere((spec) => spec.goesTo === "nobody");

/** Exactly one of these ends each turn. */
export const terminalTypes = typesWhere((spec) => spec.terminal);

/** Questions to a person and their answers. */
export const hitlTypes = typesWhere((spec) => spec.layer === "hitl");
