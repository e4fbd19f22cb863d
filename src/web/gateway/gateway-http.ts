import { isEventShaped, isRecord } from "../../client/frames.js";
import type { GatewayEvent } from "../../events/event.js";
import { type Api, type JsonObject, recordsIn } from "./api.js";
import type { StatusView, StrangerView } from "./gateway-views.js";

/** The routes that the chat reads over HTTP. */
export interface GatewayHttp {
  status(): Promise<StatusView>;
  /** Who waits to be let in. */
  strangers(): Promise<readonly StrangerView[]>;
  letIn(code: string): Promise<void>;
  /** Stored events with seq > fromSequence. */
  events(sessionKey: string, fromSequence: number, limit: number): Promise<readonly GatewayEvent[]>;
  /** A file of a session, by its path there: `artifacts/…` was given to its people, `received/…` came from them. */
  file(sessionKey: string, path: string): Promise<Blob>;
}

export function createGatewayHttp(api: Api): GatewayHttp {
  const ofSession = (key: string, path: string): string => `api/sessions/${encodeURIComponent(key)}/${path}`;
  return {
    async status() {
      return statusOf(await api.get("api/status"));
    },
    async strangers() {
      const { waiting } = await api.get("api/pairings");
      return Array.isArray(waiting) ? waiting.filter(isStranger) : [];
    },
    async letIn(code) {
      await api.post("api/pairings/approve", { code });
    },
    async events(sessionKey, fromSequence, limit) {
      const { events } = await api.get(ofSession(sessionKey, `events?from_sequence=${fromSequence}&limit=${limit}`));
      return Array.isArray(events) ? events.filter(isEventShaped) : [];
    },
    async file(sessionKey, path) {
      return await (await api.response("GET", ofSession(sessionKey, path))).blob();
    },
  };
}

function statusOf({ model, provider, problems, channels }: JsonObject): StatusView {
  const lost = recordsIn(channels)
    .filter(({ state, reason }) => state === "disconnected" && typeof reason === "string")
    .map(({ name, reason }) => `${name} is disconnected: ${reason}`);
  const others = Array.isArray(problems) ? problems.filter((problem) => typeof problem === "string") : [];
  return {
    model: typeof model === "string" ? model : "",
    isStandIn: provider === "offline",
    problems: [...lost, ...others],
  };
}

function isStranger(value: unknown): value is StrangerView {
  return isRecord(value) && [value.code, value.channel, value.senderId].every((text) => typeof text === "string");
}
