import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { GatewayApi } from "../api/gateway-api.js";
import { RequestError } from "../errors.js";
import { Connections } from "./access/connections.js";
import { giveCookie } from "./access/sign-in.js";
import { innerAddress, withSlash } from "./access/site.js";
import type { ConnectionSlots } from "./connection-slots.js";
import { sendFault, sendJson } from "./exchange.js";
import { toFaultReply } from "./faults.js";
import type { Guard } from "./guard.js";
import { requireJsonIfBody } from "./json.js";
import type { HttpSettings } from "./options.js";
import { cronRoutes } from "./routes/cron.js";
import { deadRoutes } from "./routes/dead.js";
import { deviceRoutes } from "./routes/device.js";
import { filesRoutes } from "./routes/files.js";
import { gatewayRoutes } from "./routes/gateway.js";
import { attentionRoutes, inboxRoutes } from "./routes/inbox.js";
import { mcpRoutes } from "./routes/mcp.js";
import { messageRoutes } from "./routes/message.js";
import { openAIRoutes, toOpenAIError } from "./routes/openai.js";
import { policyRoutes } from "./routes/policy.js";
import { createRouter, MethodNotAllowed, type Route, type RouteMatch } from "./routes/routes.js";
import { sessionRoutes } from "./routes/session.js";
import { skillRoutes } from "./routes/skill.js";
import { systemRoutes } from "./routes/system.js";
import { uploadRoutes } from "./routes/upload.js";
import { answerHeaders } from "./security-headers.js";
import { channelRoutes, workspaceFileRoutes } from "./settings/channel-routes.js";
import { configRoutes } from "./settings/config-routes.js";
import { mcpConfigRoutes } from "./settings/mcp-config-routes.js";
import { memoryRoutes } from "./settings/memory-routes.js";
import { policyConfigRoutes } from "./settings/policy-config-routes.js";
import { providerRoutes } from "./settings/provider-routes.js";
import { serveFile } from "./static-files.js";
import { parseTarget, type Target } from "./target.js";
import { turnRoutes } from "./turns/turn-routes.js";

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
  ...systemRoutes,
  ...sessionRoutes,
  ...turnRoutes,
  ...messageRoutes,
  ...mcpRoutes,
  ...policyRoutes,
  ...deviceRoutes,
  ...deadRoutes,
  ...inboxRoutes,
  ...attentionRoutes,
  ...cronRoutes,
  ...skillRoutes,
  ...filesRoutes,
  ...uploadRoutes,
  ...configRoutes,
  ...providerRoutes,
  ...mcpConfigRoutes,
  ...policyConfigRoutes,
  ...channelRoutes,
  ...workspaceFileRoutes,
  ...memoryRoutes,
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
  return new Handler({ settings, api, guard, slots });
}

interface HandlerParts {
  readonly settings: HttpSettings;
  readonly api: GatewayApi;
  readonly guard: Guard;
  readonly slots: ConnectionSlots;
}

class Handler implements RequestHandler {
  readonly #parts: HandlerParts;
  readonly #router = createRouter(allRoutes);
  readonly #underWay = new Map<AbortController, Promise<void>>();
  readonly #answers = new WeakMap<Duplex, ServerResponse>();
  readonly #ofDevices: Connections;

  constructor(parts: HandlerParts) {
    this.#parts = parts;
    this.#ofDevices = new Connections(parts.api.devices);
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const { settings } = this.#parts;
    const abort = new AbortController();
    this.#answers.set(request.socket, response);
    for (const [name, value] of Object.entries(answerHeaders)) response.setHeader(name, value);
    response.once("close", () => abort.abort());
    const done = this.#answer(request, response, abort)
      .catch((error: unknown) => {
        if (response.destroyed) return;
        if (error instanceof MethodNotAllowed) response.setHeader("Allow", error.allow);
        const { url } = innerAddress(request.url ?? "", settings.site().basePath);
        sendFault(response, toFaultReply(error, settings.log), url.startsWith("/v1/") ? toOpenAIError : undefined);
      })
      .finally(() => {
        this.#underWay.delete(abort);
        swallowRest(request);
      });
    this.#underWay.set(abort, done);
  }

  hasBegun(socket: Duplex): boolean {
    const last = this.#answers.get(socket);
    return last?.headersSent === true && !last.writableFinished;
  }

  async finish(): Promise<void> {
    this.#ofDevices.close();
    for (const abort of this.#underWay.keys()) abort.abort();
    await Promise.allSettled(this.#underWay.values());
  }

  async #answer(request: IncomingMessage, response: ServerResponse, abort: AbortController): Promise<void> {
    const { settings, api, guard } = this.#parts;
    const { basePath } = settings.site();
    const target = parseTarget(request.url ?? "", basePath);
    if (target.path === "/health" || target.path === "/ready") return answerProbe(target.path, api, response);
    const [room, name = "", ...deeper] = target.segments;
    const hook = room === "hooks" && deeper.length === 0 ? settings.hookOf?.(name) : undefined;
    if (hook !== undefined) return await hook(request, response);
    const isPage = !["api", "v1"].includes(target.segments[0] ?? "") && target.path !== "/metrics";
    guard.checkSource(request, { isPage });
    const origin = guard.allowedOriginOf(request);
    if (origin !== undefined) {
      response.setHeader("Access-Control-Allow-Origin", origin);
      response.setHeader("Vary", "Origin");
    }
    if (request.method === "OPTIONS") return answerPreflight(request, response, origin !== undefined);
    const whole = withSlash(request.url ?? "", basePath);
    if (whole !== undefined) return answerRedirect(response, whole);
    if (isPage) return answerPage(request, response, target, settings.webRoot);
    await this.#answerRoute(request, response, target, abort);
  }

  async #answerRoute(
    request: IncomingMessage,
    response: ServerResponse,
    target: Target,
    abort: AbortController,
  ): Promise<void> {
    const { settings, api, guard, slots } = this.#parts;
    const { signal } = abort;
    const { route, params } = await this.#routeOf(request, target, signal);
    const inQuery = route.tokenInQuery === true;
    const caller = route.isOpen === true ? {} : await guard.letIn(request, target, { inQuery, signal });
    const { device } = caller;
    response.once(
      "close",
      this.#ofDevices.add(device?.id, () => abort.abort()),
    );
    if (device?.isRenewed === true)
      giveCookie(response, { source: guard.sourceOf(request), site: settings.site(), ...target }, device);
    if (route.method !== "GET" && route.takesFile !== true) requireJsonIfBody(request);
    // A streamed answer to a post is a request like any other; who gets a stream stays.
    const client = request.method === "GET" ? "sse" : undefined;
    const holdOpen = (): void => void response.once("close", slots.take(client));
    const isSignedOut = (): boolean => device !== undefined && !api.devices.isKnown(device.id);
    try {
      signal.throwIfAborted();
      await route.handle({ request, response, target, params, api, settings, guard, caller, signal, holdOpen });
    } catch (error) {
      throw signal.aborted && isSignedOut() ? signedOut(error) : error;
    }
  }

  /** Who has no token is not told which paths exist. */
  async #routeOf(request: IncomingMessage, target: Target, signal: AbortSignal): Promise<RouteMatch> {
    try {
      return this.#router(request.method ?? "GET", target.segments);
    } catch (error) {
      await this.#parts.guard.letIn(request, target, { inQuery: false, signal });
      throw error;
    }
  }
}

function signedOut(cause: unknown): RequestError {
  const message = "This device was signed out while its request was under way. Sign in again.";
  return new RequestError(message, { status: 401, code: "unauthorized", cause });
}

/** Not for ever: the path may be changed. */
function answerRedirect(response: ServerResponse, location: string): void {
  response.writeHead(307, { Location: location, "Cache-Control": "no-store" }).end();
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
