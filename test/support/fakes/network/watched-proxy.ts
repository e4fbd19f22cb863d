import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** Somebody who asked, and for how long they were on the line. */
export interface WatchedRequest {
  readonly beganAt: number;
  endedAt: number | undefined;
}

/** Passes HTTP requests on to a server, and keeps when those began and ended that are wanted. */
export interface WatchedProxy extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly WatchedRequest[];
}

export async function openWatchedProxy(target: string, isWanted: (path: string) => boolean): Promise<WatchedProxy> {
  const requests: WatchedRequest[] = [];
  const server = createServer((request, response) => {
    const seen: WatchedRequest = { beganAt: performance.now(), endedAt: undefined };
    if (isWanted(request.url ?? "")) requests.push(seen);
    const gone = new AbortController();
    response.once("close", () => {
      seen.endedAt = performance.now();
      gone.abort();
    });
    void pass(request, gone.signal).then(
      ({ status, type, body }) => response.writeHead(status, { "content-type": type }).end(body),
      () => response.destroy(),
    );
  });
  const pass = async (request: IncomingMessage, signal: AbortSignal) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const method = request.method ?? "GET";
    const type = request.headers["content-type"] ?? "application/json";
    const body = method === "GET" ? {} : { body: Buffer.concat(chunks) };
    const answer = await fetch(`${target}${request.url}`, {
      method,
      headers: { "content-type": type },
      signal,
      ...body,
    });
    const said = Buffer.from(await answer.arrayBuffer());
    return { status: answer.status, type: answer.headers.get("content-type") ?? type, body: said };
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP server that listens has an address with a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
