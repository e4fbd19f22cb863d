import { RequestError } from "../../errors.js";
import type { Exchange } from "../exchange.js";

export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** `/api/sessions/:key/events`: a `:name` takes one segment. */
  readonly path: string;
  /** Who has not signed in yet may ask. */
  readonly isOpen?: boolean;
  /** The token may be in the query: for browsers' EventSource. */
  readonly tokenInQuery?: boolean;
  /** The body is not JSON, and may take `uploadTimeoutMs`. */
  readonly takesFile?: boolean;
  readonly handle: (exchange: Exchange) => Promise<void> | void;
}

export interface RouteMatch {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

export type Router = (method: string, segments: readonly string[]) => RouteMatch;

/** A 405 names the methods that the path does have. */
export class MethodNotAllowed extends RequestError {
  readonly allow: string;

  constructor(method: string, allow: string) {
    super(`${method} is not possible here, only ${allow}.`, { status: 405, code: "method_not_allowed" });
    this.allow = allow;
  }
}

/** @throws {RequestError} (the router) 404 for an unknown path, 405 for a wrong method. HEAD is served as GET. */
export function createRouter(routes: readonly Route[]): Router {
  const table = routes.map((route) => ({ route, pattern: route.path.slice(1).split("/") }));
  return (method, segments) => {
    const allow = new Set<string>();
    for (const { route, pattern } of table) {
      const params = match(pattern, segments);
      if (params === undefined) continue;
      if (route.method === method || (method === "HEAD" && route.method === "GET")) return { route, params };
      allow.add(route.method);
    }
    if (allow.size > 0) throw new MethodNotAllowed(method, [...allow].join(", "));
    throw new RequestError(`There is nothing at /${segments.join("/")}.`, { status: 404, code: "not_found" });
  };
}

function match(pattern: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [i, part] of pattern.entries()) {
    const segment = segments[i] ?? "";
    if (!part.startsWith(":")) {
      if (part !== segment) return undefined;
    } else if (segment === "") return undefined;
    else params[part.slice(1)] = segment;
  }
  return params;
}
