import { isEventShaped, isRecord } from "../../client/frames.js";
import type { GatewayEvent } from "../../events/event.js";
import type { JobView, StatusView, StrangerView } from "./gateway-views.js";

/** The gateway wants a token, or another one. */
export class Unauthorized extends Error {}

/** The routes that the page reads over HTTP. They throw {@link Unauthorized} on 401. */
export interface GatewayHttp {
  status(): Promise<StatusView>;
  /** Who waits to be let in. */
  strangers(): Promise<readonly StrangerView[]>;
  letIn(code: string): Promise<void>;
  jobs(): Promise<readonly JobView[]>;
  /** Stored events with seq > fromSequence. */
  events(sessionKey: string, fromSequence: number, limit: number): Promise<readonly GatewayEvent[]>;
  /** A file that the people of a session were given. */
  file(sessionKey: string, artifactId: string): Promise<Blob>;
}

const timeoutMs = 15_000;

export function createGatewayHttp(token: () => string | undefined): GatewayHttp {
  const call = async (path: string, json?: unknown): Promise<Record<string, unknown>> =>
    bodyOf(await request(token(), path, json));
  const ofSession = (key: string, path: string): string => `api/sessions/${encodeURIComponent(key)}/${path}`;
  return {
    async status() {
      return statusOf(await call("api/status"));
    },
    async strangers() {
      const { waiting } = await call("api/pairings");
      return Array.isArray(waiting) ? waiting.filter(isStranger) : [];
    },
    async letIn(code) {
      await call("api/pairings/approve", { code });
    },
    async jobs() {
      const { jobs } = await call("api/cron");
      return recordsIn(jobs).map(jobOf);
    },
    async events(sessionKey, fromSequence, limit) {
      const { events } = await call(ofSession(sessionKey, `events?from_sequence=${fromSequence}&limit=${limit}`));
      return Array.isArray(events) ? events.filter(isEventShaped) : [];
    },
    async file(sessionKey, artifactId) {
      const path = ofSession(sessionKey, `artifacts/${encodeURIComponent(artifactId)}`);
      const response = await request(token(), path, undefined);
      if (!response.ok) throw new Error(reasonOf(await response.json().catch(() => undefined), response));
      return await response.blob();
    },
  };
}

async function request(token: string | undefined, path: string, json: unknown): Promise<Response> {
  const response = await fetch(path, {
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(json === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(json === undefined ? {} : { method: "POST", body: JSON.stringify(json) }),
    cache: "no-store",
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (response.status === 401) throw new Unauthorized("The gateway asks for its token");
  return response;
}

async function bodyOf(response: Response): Promise<Record<string, unknown>> {
  const body: unknown = await response.json();
  if (!response.ok || !isRecord(body)) throw new Error(reasonOf(body, response));
  return body;
}

function statusOf({ model, provider, problems, channels }: Record<string, unknown>): StatusView {
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

function jobOf({ title, sessionKey, nextRun }: Record<string, unknown>): JobView {
  return {
    title: String(title),
    sessionKey: String(sessionKey),
    next: typeof nextRun === "string" ? new Date(nextRun) : undefined,
  };
}

function recordsIn(value: unknown): readonly Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function isStranger(value: unknown): value is StrangerView {
  return isRecord(value) && [value.code, value.channel, value.senderId].every((text) => typeof text === "string");
}

function reasonOf(body: unknown, { status }: Response): string {
  return isRecord(body) && typeof body.error === "string" ? body.error : `HTTP ${status}`;
}
