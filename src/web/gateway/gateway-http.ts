import { isEventShaped, isRecord } from "../../client/frames.js";
import type { GatewayEvent } from "../../events/event.js";

export interface StatusView {
  readonly model: string;
  readonly isStandIn: boolean;
  readonly problems: readonly string[];
}

/** Somebody whom the gateway does not know wants to talk to the assistant. */
export interface StrangerView {
  readonly code: string;
  readonly channel: string;
  readonly senderId: string;
  readonly senderName: string | undefined;
}

/** A scheduled job. */
export interface JobView {
  readonly title: string;
  readonly sessionKey: string;
  /** Absent: it is off. */
  readonly next: Date | undefined;
}

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
  async function request(path: string, json?: unknown): Promise<Response> {
    const secret = token();
    const response = await fetch(path, {
      headers: {
        ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
        ...(json === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(json === undefined ? {} : { method: "POST", body: JSON.stringify(json) }),
      cache: "no-store",
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (response.status === 401) throw new Unauthorized("The gateway asks for its token");
    return response;
  }

  async function call(path: string, json?: unknown): Promise<Record<string, unknown>> {
    const response = await request(path, json);
    const body: unknown = await response.json();
    if (!response.ok || !isRecord(body)) throw new Error(reasonOf(body, response));
    return body;
  }

  return {
    async status() {
      const { model, provider, problems, channels } = await call("api/status");
      const lost = (Array.isArray(channels) ? channels : [])
        .filter(isRecord)
        .filter(({ state, reason }) => state === "disconnected" && typeof reason === "string")
        .map(({ name, reason }) => `${name} is disconnected: ${reason}`);
      return {
        model: typeof model === "string" ? model : "",
        isStandIn: provider === "offline",
        problems: [
          ...lost,
          ...(Array.isArray(problems) ? problems.filter((problem) => typeof problem === "string") : []),
        ],
      };
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
      return (Array.isArray(jobs) ? jobs : []).filter(isRecord).map(({ title, sessionKey, nextRun }) => ({
        title: String(title),
        sessionKey: String(sessionKey),
        next: typeof nextRun === "string" ? new Date(nextRun) : undefined,
      }));
    },
    async events(sessionKey, fromSequence, limit) {
      const range = `from_sequence=${fromSequence}&limit=${limit}`;
      const { events } = await call(`api/sessions/${encodeURIComponent(sessionKey)}/events?${range}`);
      return Array.isArray(events) ? events.filter(isEventShaped) : [];
    },
    async file(sessionKey, artifactId) {
      const response = await request(
        `api/sessions/${encodeURIComponent(sessionKey)}/artifacts/${encodeURIComponent(artifactId)}`,
      );
      if (!response.ok) throw new Error(reasonOf(await response.json().catch(() => undefined), response));
      return await response.blob();
    },
  };
}

function isStranger(value: unknown): value is StrangerView {
  return isRecord(value) && [value.code, value.channel, value.senderId].every((text) => typeof text === "string");
}

function reasonOf(body: unknown, { status }: Response): string {
  return isRecord(body) && typeof body.error === "string" ? body.error : `HTTP ${status}`;
}
