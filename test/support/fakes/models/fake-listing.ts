import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A provider that only lists its models, to who has the key. */
export interface FakeListing extends AsyncDisposable {
  /** For `providers.<name>.apiBase`. */
  readonly apiBase: string;
  /** Method, path and what was shown as the key, of each request in order. */
  readonly requests: readonly string[];
}

/** With `listsOpenly` the list is for everybody, and only `/key` looks at the key, as OpenRouter has it. */
export async function startFakeListing({
  key,
  models,
  listsOpenly = false,
  needsNoKey = false,
}: {
  readonly key: string;
  readonly models: readonly string[];
  readonly listsOpenly?: boolean;
  readonly needsNoKey?: boolean;
}): Promise<FakeListing> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const shown = request.headers.authorization?.replace("Bearer ", "");
    requests.push(`${request.method} ${request.url} ${shown}`);
    const isOpen = needsNoKey || (listsOpenly && request.url === "/v1/models");
    const status =
      !isOpen && shown !== key ? 401 : request.url === "/v1/models" || request.url === "/v1/key" ? 200 : 404;
    const body =
      status === 200 ? { data: models.map((id) => ({ id })) } : { error: { message: "no such key or path" } };
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    // A server that listens on TCP has an object as its address.
    apiBase: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
