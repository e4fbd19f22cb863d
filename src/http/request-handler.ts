import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { GatewayApi } from "../api/gateway-api.js";
import { RequestError } from "../errors.js";
import type { ConnectionSlots } from "./connection-slots.js";
import { sendFault, sendJson } from "./exchange.js";
import { toFaultReply } from "./faults.js";
import type { Guard } from "./guard.js";
import { requireJsonIfBody } from "./json.js";
import type { HttpSettings } from "./options.js";
import { cronRoutes } from "./routes/cron.js";
import { deadRoutes } from "./routes/dead.js";
import { filesRoutes } from "./routes/files.js";
import { gatewayRoutes } from "./routes/gateway.js";
import { inboxRoutes } from "./routes/inbox.js";
import { mcpRoutes } from "./routes/mcp.js";
import { messageRoutes } from "./routes/message.js";
import { openAIRoutes, toOpenAIError } from "./routes/openai.js";
import { policyRoutes } from "./routes/policy.js";
import { createRouter, MethodNotAllowed, type Route } from "./routes/routes.js";
import { sessionRoutes } from "./routes/session.js";
import { skillRoutes } from "./routes/skill.js";
import { uploadRoutes } from "./routes/upload.js";
import { answerHeaders } from "./security-headers.js";
import { channelRoutes, workspaceFileRoutes } from "./settings/channel-routes.js";
import { configRoutes } from "./settings/config-routes.js";
import { mcpConfigRoutes } from "./settings/mcp-config-routes.js";
import { providerRoutes } from "./settings/provider-routes.js";
import { serveFile } from "./static-files.js";
import { parseTarget, type Target } from "./target.js";

/** Answers requests, and knows which ones are under way. */
export interface RequestHandler {
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** True when an answer on this connection has begun: nothing else may be written to it. */
  hasBegun(socket: Duplex): boolean;
  /** Ends open streams and waiting, and resolves once every answer is settled. */
  finish(): Promise<void>;
}

export const allRoutes: readonly Route[] = [
  ...gatewayRoutes,
  ...sessionRoutes,
  ...messageRoutes,
  ...mcpRoutes,
  ...policyRoutes,
  ...deadRoutes,
  ...inboxRoutes,
  ...cronRoutes,
  ...skillRoutes,
  ...filesRoutes,
  ...uploadRoutes,
  ...configRoutes,
  ...providerRoutes,
  ...mcpConfigRoutes,
  ...channelRoutes,
  ...workspaceFileRoutes,
  ...openAIRoutes,
];

/** How long the rest of a refused body is swallowed, so that its sender can read the refusal. */
const swallowMs = 2000;

export function createRequestHandler(
  settings: HttpSettings,
  api: GatewayApi,
  guard: Guard,
  slots: ConnectionSlots,
): RequestHandler {
  const router = createRouter(allRoutes);
  const underWay = new Map<AbortController, Promise<void>>();
  const answers = new WeakMap<Duplex, ServerResponse>();

  /** Who has no token is not told which paths exist. */
  const routeOf = async (request: IncomingMessage, target: Target, signal: AbortSignal) => {
    try {
      return router(request.method ?? "GET", target.segments);
    } catch (error) {
      await guard.checkToken(request, target, { inQuery: false, signal });
      throw error;
    }
  };

  const answer = async (request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void> => {
    const target = parseTarget(request.url ?? "");
    if (target.path === "/health" || target.path === "/ready") return answerProbe(target.path, api, response);
    const isPage = !["api", "v1"].includes(target.segments[0] ?? "") && target.path !== "/metrics";
    guard.checkSource(request, { isPage });
    const origin = guard.allowedOriginOf(request);
    if (origin !== undefined) {
      response.setHeader("Access-Control-Allow-Origin", origin);
      response.setHeader("Vary", "Origin");
    }
    if (request.method === "OPTIONS") return answerPreflight(request, response, origin !== undefined);
    if (isPage) return answerPage(request, response, target, settings.webRoot);
    const { route, params } = await routeOf(request, target, signal);
    await guard.checkToken(request, target, { inQuery: route.tokenInQuery === true, signal });
    if (route.method !== "GET" && route.takesFile !== true) requireJsonIfBody(request);
    // A streamed answer to a post is a request like any other; who gets a stream stays.
    const client = request.method === "GET" ? "sse" : undefined;
    const holdOpen = (): void => void response.once("close", slots.take(client));
    await route.handle({ request, response, target, params, api, settings, signal, holdOpen });
  };

  return {
    handle(request, response) {
      const abort = new AbortController();
      answers.set(request.socket, response);
      for (const [name, value] of Object.entries(answerHeaders)) response.setHeader(name, value);
      response.once("close", () => abort.abort());
      const done = answer(request, response, abort.signal)
        .catch((error: unknown) => {
          if (response.destroyed) return;
          if (error instanceof MethodNotAllowed) response.setHeader("Allow", error.allow);
          const isOpenAI = request.url?.startsWith("/v1/") === true;
          sendFault(response, toFaultReply(error, settings.log), isOpenAI ? toOpenAIError : undefined);
        })
        .finally(() => {
          underWay.delete(abort);
          swallowRest(request);
        });
      underWay.set(abort, done);
    },
    hasBegun(socket) {
      const last = answers.get(socket);
      return last?.headersSent === true && !last.writableFinished;
    },
    async finish() {
      for (const abort of underWay.keys()) abort.abort();
      await Promise.allSettled(underWay.values());
    },
  };
}

/** For supervisors and load balancers, which have neither our name nor a token. */
async function answerProbe(path: string, api: GatewayApi, response: ServerResponse): Promise<void> {
  if (path === "/health") return sendJson(response, 200, { status: "ok" });
  const stuckChats = (await api.status()).stuckChats.length;
  const reason = api.whyNotReady();
  sendJson(
    response,
    reason === undefined ? 200 : 503,
    // Which ones is not for everybody: status tells.
    {
      ...(reason === undefined ? { ready: true } : { ready: false, reason }),
      ...(stuckChats > 0 ? { stuckChats } : {}),
    },
  );
}

function answerPreflight(request: IncomingMessage, response: ServerResponse, isAllowedOrigin: boolean): void {
  if (isAllowedOrigin) {
    response.setHeader("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE");
    // OpenAI's SDK sends a dozen of its own.
    const wanted = request.headers["access-control-request-headers"] ?? "Authorization, Content-Type, Last-Event-ID";
    response.setHeader("Access-Control-Allow-Headers", wanted);
    response.setHeader("Access-Control-Max-Age", "600");
  }
  response.writeHead(204).end();
}

async function answerPage(
  request: IncomingMessage,
  response: ServerResponse,
  target: Target,
  webRoot: string,
): Promise<void> {
  if (target.path === "/ws") {
    response.setHeader("Upgrade", "websocket");
    throw new RequestError("This address speaks WebSocket only.", { status: 426, code: "upgrade_required" });
  }
  if (request.method !== "GET" && request.method !== "HEAD")
    throw new MethodNotAllowed(request.method ?? "", "GET, HEAD");
  await serveFile(request, response, target, webRoot);
}

function swallowRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  request.resume();
  const timer = setTimeout(() => request.socket.destroy(), swallowMs);
  timer.unref();
  const onDone = (): void => clearTimeout(timer);
  request.once("close", onDone).once("end", onDone);
}
