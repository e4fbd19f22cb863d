import { z } from "zod";
import { type EventType, specOf } from "../src/events/catalogue.js";
import { eventTypes } from "./events-table.js";

const text = z.string().min(1);
const place = z.number().int();

/** Written to the log wherever there is one to write to. */
const isAlwaysStored = (type: EventType): boolean =>
  specOf(type).stored && !specOf(type).detail && type !== "session_state_changed";

/** One whole event of a type, as it is on wire and disk. */
function eventSchema(type: EventType) {
  const { stored, payload } = specOf(type);
  const seq = place.min(1).describe("its place in the session's log");
  return z.strictObject({
    schema_version: z.literal("1.0"),
    event_id: z.string().regex(/^evt_[0-9a-f]{20}$/),
    type: z.literal(type),
    session_key: z.string().regex(/^[a-z0-9-]+:.+$/),
    seq: isAlwaysStored(type) ? seq : stored ? seq.nullable() : z.null(),
    after_seq: place.min(0).describe("where seq is null: the last stored place when it was made").optional(),
    ...(specOf(type).layer === "stream" ? { delta_index: place.min(0).optional() } : {}),
    timestamp: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    source: text,
    turn_id: text.optional(),
    correlation_id: text.optional(),
    causation_id: text.optional(),
    payload,
    metadata: z.strictObject({
      instance_id: text,
      agent_id: text.optional(),
      dropped: z.number().int().positive().optional(),
    }),
  });
}

/** The JSON schema of any event, one branch for each type, in the order of the catalogue. */
export function eventsSchema() {
  const branches = eventTypes.map((type) => {
    const { $schema: _draft, ...schema } = z.toJSONSchema(eventSchema(type));
    return { title: type, ...schema };
  });
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "An event of maxclaw",
    description: "Made from src/events/catalogue.ts by node dist/scripts/events-docs.js.",
    oneOf: branches,
  };
}

/** The schema as a file, each type on a line of its own. */
export function eventsSchemaText(): string {
  const { oneOf, ...head } = eventsSchema();
  const branches = oneOf.map((branch) => `    ${JSON.stringify(branch)}`).join(",\n");
  return `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "oneOf": [\n${branches}\n  ]\n}\n`;
}
