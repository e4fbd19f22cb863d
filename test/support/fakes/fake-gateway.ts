import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

export type Reply = (body: Record<string, unknown>, response: ServerResponse) => void;

/** A gateway at the wire: answers one posted message after the other, each as told, and the status. */
export async function openFakeGateway(replies: readonly Reply[]) {
  const bodies: Record<string, unknown>[] = [];
  const requests: IncomingMessage[] = [];
  const server = createServer(async (request, response) => {
    if (request.method === "GET") return void response.end(JSON.stringify({ version: "1", model: "m", provider: "p" }));
    let text = "";
    for await (const chunk of request) text += chunk;
    const body = JSON.parse(text);
    requests.push(request);
    const reply = replies[bodies.push(body) - 1];
    if (reply === undefined) response.writeHead(500).end();
    else reply(body, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no address");
  return {
    bodies,
    requests,
    address: `127.0.0.1:${address.port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const frames = (...list: readonly object[]): string =>
  list.map((frame) => `event: x\ndata: ${JSON.stringify(frame)}\n\n`).join("");
