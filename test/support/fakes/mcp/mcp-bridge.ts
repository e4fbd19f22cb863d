import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";

/** Reference servers that only speak stdio, over HTTP: each client gets a process of its own, messages go through as they are. */
export async function startBridge(
  kind: "http" | "sse",
  section: { readonly command: string; readonly args: readonly string[]; readonly env?: Record<string, string> },
) {
  const fronts = new Map<string, StreamableHTTPServerTransport | SSEServerTransport>();
  const backs: StdioClientTransport[] = [];
  const join = async (front: StreamableHTTPServerTransport | SSEServerTransport): Promise<void> => {
    const back = new StdioClientTransport({ ...section, args: [...section.args], stderr: "ignore" });
    backs.push(back);
    const [near, far] = [front as Transport, back as Transport];
    near.onmessage = (message) => void far.send(message);
    far.onmessage = (message) => void near.send(message).catch(() => undefined);
    near.onclose = () => void far.close();
    await far.start();
  };
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    const given = request.headers["mcp-session-id"] ?? url.searchParams.get("sessionId") ?? "";
    const known = fronts.get(String(given));
    if (known instanceof StreamableHTTPServerTransport) return await known.handleRequest(request, response);
    if (known !== undefined) return await known.handlePostMessage(request, response);
    if (kind === "sse") {
      if (request.method !== "GET") return void response.writeHead(405).end();
      const front = new SSEServerTransport("/messages", response);
      fronts.set(front.sessionId, front);
      await join(front);
      return await front.start();
    }
    const front = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void fronts.set(id, front),
    });
    await join(front);
    await front.handleRequest(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server that listens on TCP has an object as its address.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/${kind === "sse" ? "sse" : "mcp"}`,
    async [Symbol.asyncDispose]() {
      await Promise.all(backs.map((back) => back.close()));
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
