import { isEventShaped } from "../../client/frames.js";
import type { GatewayEvent } from "../../events/event.js";
import { loadOwnWords, ownProblem, problemText } from "../failures/said.js";
import { frameWords } from "../frame/words.js";
import { saidIn } from "../words/words.js";
import { type Api, type JsonObject, recordsIn, textIn } from "./api.js";
import type { StatusView } from "./gateway-views.js";

/** The routes that the chat reads over HTTP. */
export interface GatewayHttp {
  status(): Promise<StatusView>;
  /** Stored events with seq > fromSequence. */
  events(sessionKey: string, fromSequence: number, limit: number): Promise<readonly GatewayEvent[]>;
  /** A file of a session, by its path there: `artifacts/…` was given to its people, `received/…` came from them. */
  file(sessionKey: string, path: string): Promise<Blob>;
}

export function createGatewayHttp(api: Api): GatewayHttp {
  const ofSession = (key: string, path: string): string => `api/sessions/${encodeURIComponent(key)}/${path}`;
  return {
    async status() {
      const status = await api.get("api/status");
      await loadOwnWords();
      return statusOf(status);
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

const isAboutModel = (problem: string): boolean => /^No model (?:is chosen|provider is configured)\./.test(problem);

function statusOf({ model, provider, problems, channels }: JsonObject): StatusView {
  const lost = recordsIn(channels)
    .filter(({ state, reason }) => state === "disconnected" && typeof reason === "string")
    .map(({ name, reason, title }) =>
      frameWords.t("channelLost", { name: saidIn(title) || textIn(name), reason: problemText(textIn(reason)) }),
    );
  const others = Array.isArray(problems) ? problems.filter((problem) => typeof problem === "string") : [];
  const gatewaySays = (problem: string): string => ownProblem(problem) ?? frameWords.t("gatewaySays", { problem });
  return {
    model: typeof model === "string" ? model : "",
    isStandIn: provider === "offline",
    needsModel: provider === "offline" || provider === "none",
    platforms: recordsIn(channels).flatMap(({ name, state, title }) =>
      typeof name === "string" && state !== "off" ? [{ name, title: saidIn(title) || name }] : [],
    ),
    problems: [...lost, ...others.filter((problem) => !isAboutModel(problem)).map(gatewaySays)],
    modelProblems: others.filter(isAboutModel).map(gatewaySays),
  };
}
