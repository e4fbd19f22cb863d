import { isEventShaped, isRecord } from "../client/frames.js";
import type { GatewayEvent } from "../events/event.js";

export interface StatusView {
  readonly model: string;
  readonly isStandIn: boolean;
  readonly problems: readonly string[];
}

/** The gateway wants a token, or another one. */
export class Unauthorized extends Error {}

/** The routes that the page reads over HTTP. They throw {@link Unauthorized} on 401. */
export interface GatewayHttp {
  status(): Promise<StatusView>;
  /** Stored events with seq > fromSequence. */
  events(sessionKey: string, fromSequence: number, limit: number): Promise<readonly GatewayEvent[]>;
  /** A file that the people of a session were given. */
  file(sessionKey: string, artifactId: string): Promise<Blob>;
}

const timeoutMs = 15_000;

export function createGatewayHttp(token: () => string | undefined): GatewayHttp {
  async function request(path: string): Promise<Response> {
    const secret = token();
    const response = await fetch(path, {
      headers: secret === undefined ? {} : { authorization: `Bearer ${secret}` },
      cache: "no-store",
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (response.status === 401) throw new Unauthorized("The gateway asks for its token");
    return response;
  }

  async function get(path: string): Promise<Record<string, unknown>> {
    const response = await request(path);
    const body: unknown = await response.json();
    if (!response.ok || !isRecord(body)) throw new Error(reasonOf(body, response));
    return body;
  }

  return {
    async status() {
      const { model, provider, problems } = await get("api/status");
      return {
        model: typeof model === "string" ? model : "",
        isStandIn: provider === "offline",
        problems: Array.isArray(problems) ? problems.filter((problem) => typeof problem === "string") : [],
      };
    },
    async events(sessionKey, fromSequence, limit) {
      const range = `from_sequence=${fromSequence}&limit=${limit}`;
      const { events } = await get(`api/sessions/${encodeURIComponent(sessionKey)}/events?${range}`);
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

function reasonOf(body: unknown, { status }: Response): string {
  return isRecord(body) && typeof body.error === "string" ? body.error : `HTTP ${status}`;
}
