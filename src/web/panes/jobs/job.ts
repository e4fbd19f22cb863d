import { type JsonObject, textIn } from "../../gateway/api.js";

/** A scheduled job, as the gateway tells it. */
export interface Job {
  readonly id: string;
  readonly title: string;
  readonly prompt: string;
  readonly scheduleType: string;
  readonly schedule: string;
  readonly timeZone: string;
  readonly sessionKey: string;
  readonly session: "chat" | "alone";
  readonly missed: "skip" | "once";
  readonly enabled: boolean;
  /** ISO 8601 or empty, as all times here. */
  readonly last: { readonly at: string; readonly status: string };
  readonly nextRun: string;
}

export function jobOf(sent: JsonObject): Job {
  return {
    id: textIn(sent.id),
    title: textIn(sent.title),
    prompt: textIn(sent.prompt),
    scheduleType: textIn(sent.scheduleType),
    schedule: textIn(sent.schedule),
    timeZone: textIn(sent.timeZone),
    sessionKey: textIn(sent.sessionKey),
    session: sent.session === "alone" ? "alone" : "chat",
    missed: sent.missed === "skip" ? "skip" : "once",
    enabled: sent.enabled === true,
    last: { at: textIn(sent.lastRun), status: textIn(sent.lastStatus) },
    nextRun: textIn(sent.nextRun),
  };
}
