import { z } from "zod";
import { stopReasons, usage } from "../content.js";

/** Where an event belongs: `stream` events are never stored; `turn` and `message` ones tell a turn's story. */
export type Layer = "stream" | "state" | "message" | "turn" | "hitl" | "system";

/** One row of the catalogue. */
export interface EventSpec<P extends z.ZodType = z.ZodType> {
  readonly layer: Layer;
  /** Kept in the session log. `detail` rows can be switched off by `events.persistDetail: false`. */
  readonly stored: boolean;
  readonly detail: boolean;
  /** Ends a turn: exactly one per turn. */
  readonly terminal: boolean;
  /** `internal` events never leave the process; `chat` means that a commit also sends it to the person. */
  readonly goesTo: "clients" | "clients and chat" | "nobody";
  readonly payload: P;
}

type Flags = Partial<Pick<EventSpec, "stored" | "detail" | "terminal" | "goesTo">>;

/** One row. */
export function spec<S extends z.ZodRawShape>(layer: Layer, payload: S, flags: Flags = {}): EventSpec<z.ZodObject<S>> {
  return {
    layer,
    stored: flags.stored ?? layer !== "stream",
    detail: flags.detail ?? false,
    terminal: flags.terminal ?? false,
    goesTo: flags.goesTo ?? "clients",
    payload: z.object(payload),
  };
}

export const text = z.string();
export const count = z.number().int().nonnegative();
export const optionalText = text.optional();
export const stopReason = z.enum(stopReasons);
export const category = z.enum(["driver", "persistence", "connection", "runtime"]);
/** Where something was written by a model outside of any answer. */
export const modelUse = { model: optionalText, usage: usage.optional(), cost_usd: z.number().optional() };
/** What an answer that was cut has probably used beyond what its provider had told by then. */
export const guess = z.object({ tokens: count, cost_usd: z.number().optional() }).optional();
/** What answers have used that were begun and given up: part of what the turn has used, and in none of its messages. */
export const discarded = z.array(z.object({ model: text, usage, cost_usd: z.number().optional(), guess })).optional();
export const both = { goesTo: "clients and chat" } as const;

export const agentStates = [
  "idle",
  "thinking",
  "responding",
  "planning_tool",
  "awaiting_tool_result",
  "awaiting_human",
  "error",
] as const;

export const connectionStates = ["connecting", "connected", "reconnecting", "disconnected"] as const;
export const deliveryStatuses = ["queued", "sending", "sent", "unknown", "retrying", "dead_letter", "refused"] as const;

export const planStatuses = ["pending", "running", "paused", "completed", "failed"] as const;
export const stepStatuses = ["pending", "ready", "running", "completed", "skipped", "failed"] as const;
