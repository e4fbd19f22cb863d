import type { GatewayEvent } from "../events/event.js";

export interface CommandFrame {
  readonly type: "command";
  readonly id: string;
  readonly command: { readonly type: string; readonly payload: object };
  readonly timestamp: string;
  readonly source: "client";
}

/** What the server sends, once parsed. Anything else is `undefined`. */
export type ServerFrame =
  | { readonly type: "event"; readonly event: GatewayEvent }
  | { readonly type: "response"; readonly id: string; readonly success: true; readonly data: unknown }
  | {
      readonly type: "response";
      readonly id: string;
      readonly success: false;
      readonly error: string;
      readonly code: string;
    };

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads one text frame. Never throws: a frame that makes no sense gives `undefined`. */
export function parseFrame(text: string): ServerFrame | undefined {
  let frame: unknown;
  try {
    frame = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(frame)) return undefined;
  if (frame.type === "event") {
    return isEventShaped(frame.event) ? { type: "event", event: frame.event } : undefined;
  }
  if (frame.type !== "response" || typeof frame.id !== "string" || !isRecord(frame.response)) return undefined;
  const { success, data, error } = frame.response;
  if (success === true) return { type: "response", id: frame.id, success, data };
  const reason = isRecord(error) ? error : { error };
  const message = [reason.message, reason.error].find((value) => typeof value === "string");
  const code = [reason.code, frame.response.code].find((value) => typeof value === "string");
  return {
    type: "response",
    id: frame.id,
    success: false,
    error: typeof message === "string" ? message : "The gateway refused the command.",
    code: typeof code === "string" ? code : "UNKNOWN",
  };
}

/** Only the envelope is checked: a newer gateway may send types and payloads that this build does not know. */
export function isEventShaped(value: unknown): value is GatewayEvent {
  return (
    isRecord(value) &&
    typeof value.type === "string" &&
    typeof value.session_key === "string" &&
    (typeof value.seq === "number" || value.seq === null) &&
    isRecord(value.payload)
  );
}
