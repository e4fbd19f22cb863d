import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One call to a platform's API, as it went over the wire. */
export interface TappedCall {
  /** Its last part is the method. */
  readonly path: string;
  readonly body: Buffer;
}

export interface Tap extends AsyncDisposable {
  readonly url: string;
}

/** Stands in front of a server on loopback: passes everything on, and shows what was sent before it arrives. */
export async function startTap(target: string, onCall: (call: TappedCall) => void): Promise<Tap> {
  const pass = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece);
    const body = Buffer.concat(pieces);
    onCall({ path: incoming.url ?? "/", body });
    const { method, headers } = incoming;
    const onward = request(new URL(incoming.url ?? "/", target), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      answer.once("error", () => response.destroy());
    });
    onward.once("error", () => response.destroy());
    response.once("close", () => onward.destroy());
    onward.end(body);
  };
  const server = createServer((incoming, response) => void pass(incoming, response).catch(() => response.destroy()));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP server that listens has an address with a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
