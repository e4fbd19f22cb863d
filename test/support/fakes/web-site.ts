import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface WebSite extends AsyncDisposable {
  /** `127.0.0.1:1234` */
  readonly host: string;
  readonly url: string;
  readonly requests: readonly { readonly path: string; readonly headers: IncomingMessage["headers"] }[];
  /** Connections that are open now. */
  connections(): Promise<number>;
}

/** A web server on loopback. `answer` sees each request; its paths are relative. */
export async function startSite(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<WebSite> {
  const requests: { path: string; headers: IncomingMessage["headers"] }[] = [];
  const server: Server = createServer((request, response) => {
    requests.push({ path: request.url ?? "", headers: request.headers });
    answer(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    host: `127.0.0.1:${port}`,
    url: `http://127.0.0.1:${port}`,
    requests,
    connections: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      ),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** A page with enough to read. */
export function articlePage(title: string, body: string): string {
  const filler = "This sentence was put here so that there is something to read on the page. ".repeat(8);
  return `<!doctype html><html><head><title>${title}</title></head><body><nav><a href="/menu">Menu</a></nav><article><h1>${title}</h1><p>${filler}</p>${body}</article><footer>Imprint</footer></body></html>`;
}
