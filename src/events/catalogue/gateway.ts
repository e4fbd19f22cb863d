import { z } from "zod";
import { category, connectionStates, count, deliveryStatuses, optionalText, spec, text } from "./spec.js";

const hidden = { stored: false, goesTo: "nobody" } as const;

/** The gateway itself, its connections and its deliveries. */
export const gatewayEvents = {
  gateway_state_changed: spec("system", {
    from: z.enum(["starting", "ready", "draining", "stopped"]),
    to: z.enum(["starting", "ready", "draining", "stopped"]),
    version: text,
  }),
  connection_state_changed: spec("system", {
    peer: z.enum(["channel", "client", "mcp", "provider"]),
    name: text,
    from: z.enum(connectionStates),
    to: z.enum(connectionStates),
    attempt: count.optional(),
    delay_ms: count.optional(),
    reason: optionalText,
    tool_count: count.optional(),
  }),
  outbound_delivery_changed: spec("system", {
    outbound_id: text,
    channel: text,
    chat_id: text,
    status: z.enum(deliveryStatuses),
    attempt: count,
    maybe_duplicate: z.boolean().optional(),
    content: optionalText,
    platform_message_id: optionalText,
    error: optionalText,
  }),
  /** What one node asks all others, and what the one says that has it. */
  node_asked: spec("system", { call_id: text, name: text, body: z.unknown() }, hidden),
  node_answered: spec("system", { call_id: text, result: z.unknown() }, hidden),
  error_occurred: spec("system", { code: text, category, message: text, recoverable: z.boolean(), scope: text }),
} as const;
