import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A message of a person, as the relay hands it out. */
export interface RelayUpdate {
  readonly position: number;
  readonly chatId: string;
  readonly text: string;
}

/**
 * A platform that knows what it has shown: a message that comes again with the same id is shown once. It hands out its
 * updates until a higher position is asked for.
 */
export interface RelayServer extends AsyncDisposable {
  readonly url: string;
  write(chatId: string, text: string): void;
  /** What people see, in order. */
  readonly shown: readonly { readonly chatId: string; readonly text: string }[];
  /** Updates up to here are confirmed. */
  readonly confirmed: number;
  /** Updates that are not confirmed. */
  readonly pending: number;
  /** Hands out the newest update with the next ones, although it may be confirmed. */
  repeatLast(): void;
  /** The next send is never answered: `before` it is shown, or `after`. Resolves when it has come. */
  hangNextSend(when: "before" | "after"): Promise<void>;
}

export async function startRelay(): Promise<RelayServer> {
  const updates: RelayUpdate[] = [];
  const shown: { readonly chatId: string; readonly text: string }[] = [];
  const shownAs = new Map<string, number>();
  let confirmed = 0;
  let repeated: RelayUpdate | undefined;
  /** Of requests that wait for updates: one of a process that stood still may come behind that of its successor. */
  const polls = new Set<() => void>();
  let hanging: { readonly when: "before" | "after"; readonly come: () => void } | undefined;

  const takeUpdates = async (after: number, gone: Promise<unknown>): Promise<readonly RelayUpdate[]> => {
    confirmed = Math.max(confirmed, after);
    const again = repeated === undefined ? [] : [repeated];
    repeated = undefined;
    const fresh = (): readonly RelayUpdate[] => updates.filter(({ position }) => position > after);
    if (fresh().length + again.length === 0)
      await Promise.race([gone, new Promise<void>((resolve) => polls.add(resolve))]);
    return [...again.filter(({ position }) => position <= after), ...fresh()];
  };

  const show = (message: { readonly id: string; readonly chatId: string; readonly text: string }): number => {
    const known = shownAs.get(message.id);
    if (known !== undefined) return known;
    shownAs.set(message.id, shown.push({ chatId: message.chatId, text: message.text }));
    return shown.length;
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? "/", "http://relay");
    if (request.method === "GET") {
      const gone = once(response, "close");
      return sendJson(response, { updates: await takeUpdates(Number(url.searchParams.get("after")), gone) });
    }
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const message = JSON.parse(Buffer.concat(pieces).toString("utf8")) as Parameters<typeof show>[0];
    const hung = hanging;
    hanging = undefined;
    if (hung?.when === "before") return hung.come();
    const messageId = show(message);
    if (hung !== undefined) return hung.come();
    sendJson(response, { messageId });
  };

  const server = createServer((request, response) => void handle(request, response).catch(() => response.destroy()));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP server that listens has an address with a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    write(chatId, text) {
      updates.push({ position: updates.length + 1, chatId, text });
      for (const wake of polls) wake();
      polls.clear();
    },
    shown,
    get confirmed() {
      return confirmed;
    },
    get pending() {
      return updates.length - confirmed;
    },
    repeatLast() {
      repeated = updates.at(-1);
    },
    hangNextSend: (when) => new Promise((come) => (hanging = { when, come })),
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

function sendJson(response: ServerResponse, answer: object): void {
  if (response.destroyed) return;
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
}
