import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { type IncomingHttpHeaders, type RequestOptions, request } from "node:http";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GatewayApi } from "../../../../src/api/gateway-api.js";
import type { HttpOptions } from "../../../../src/http/options.js";
import { type HttpServer, openHttpServer } from "../../../../src/http/server.js";
import { silentLog } from "../../../../src/log.js";
import { createMemoryGateway, type MemoryGateway } from "./http-api.js";

export interface TestServer extends AsyncDisposable {
  readonly gateway: MemoryGateway;
  readonly server: HttpServer;
  readonly url: string;
  readonly webRoot: string;
  readonly stop: AbortController;
}

/** The real server on a free port, over a gateway in memory and a small built page. */
export async function openTestServer(
  options: Partial<HttpOptions> = {},
  api: Partial<GatewayApi> = {},
): Promise<TestServer> {
  const folder = await mkdtemp(join(tmpdir(), "maxclaw-http-"));
  const webRoot = join(folder, "web");
  await mkdir(join(webRoot, "assets"), { recursive: true });
  await writeFile(join(webRoot, "index.html"), "<!doctype html><title>page</title>");
  await writeFile(join(webRoot, "assets", "index-Abc12345.js"), "export {};");
  await writeFile(join(webRoot, ".env"), "SECRET=1");
  await writeFile(join(folder, "outside.txt"), "outside");
  const gateway = createMemoryGateway(api);
  const stop = new AbortController();
  const server = await openHttpServer(
    { host: "127.0.0.1", port: 0, webRoot, log: silentLog, ...options },
    gateway.api,
    stop.signal,
  );
  return {
    gateway,
    server,
    url: server.url,
    webRoot,
    stop,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A request exactly as written: path, Host and Origin are not touched. */
export function rawRequest(port: number, options: RequestOptions, body?: string | Buffer): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, agent: false, ...options }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Sends bytes and resolves with everything that comes back until the server closes. */
export function rawSocket(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host: "127.0.0.1", port }, () => socket.write(bytes));
    let text = "";
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => {
      text += chunk;
    });
    socket.on("end", () => socket.end());
    socket.on("close", () => resolve(text));
    socket.on("error", reject);
  });
}

export async function postJson(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

/** Resolves once `isTrue` says so, looking after every tick; rejects after `limitMs`. */
export async function until(isTrue: () => boolean, what: string, limitMs = 20_000): Promise<void> {
  const end = Date.now() + limitMs;
  while (!isTrue()) {
    if (Date.now() > end) throw new Error(`still waiting for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
