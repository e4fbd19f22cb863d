import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/**
 * What happens to the next text of a client. The server counts another stanza in the place of one that it never gets, as both
 * sides count.
 */
export type StanzaFault =
  | { readonly kind: "refuse"; readonly type: string; readonly condition: string }
  | { readonly kind: "cut" | "hang"; readonly isTaken: boolean };

export async function openXmppProxy(target: number, sink: string): Promise<XmppProxy> {
  const server = createServer({ noDelay: true });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return new XmppProxy(server, target, sink);
}

/** Stands between a client and a server, and breaks what passes. */
export class XmppProxy implements AsyncDisposable {
  readonly port: number;
  readonly #server: Server;
  readonly #target: number;
  readonly #sink: string;
  readonly #sockets = new Set<Socket>();
  #faults: StanzaFault[] = [];
  #injected: ((text: string) => void) | undefined;
  #isRefusing = false;
  connections = 0;

  /** `sink`: an address that takes everything, and shows nothing. */
  constructor(server: Server, target: number, sink: string) {
    // A TCP server that listens has an address with a port.
    ({ port: this.port } = server.address() as AddressInfo);
    this.#server = server;
    this.#target = target;
    this.#sink = sink;
    server.on("connection", (client) => this.#join(client));
  }

  failNext(fault: StanzaFault): void {
    this.#faults.push(fault);
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  refuse(isOn: boolean): void {
    this.#isRefusing = isOn;
  }

  /** The newest client gets this, as if the server had sent it. */
  inject(text: string): void {
    this.#injected?.(text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.cut();
    await closed;
  }

  #join(client: Socket): void {
    this.connections += 1;
    if (this.#isRefusing) return void client.destroy();
    const upstream = connect({ host: "127.0.0.1", port: this.#target, noDelay: true });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.once("close", () => {
        this.#sockets.delete(socket);
        other.destroySoon();
      });
    }
    this.#injected = (text) => void client.write(text);
    const state = { isMute: false, isDeaf: false };
    upstream.on("data", (bytes) => void (state.isMute || client.write(bytes)));
    let rest = "";
    client.setEncoding("utf8");
    client.on("data", (text) => {
      rest += String(text);
      for (;;) {
        const [whole = ""] = /^[\s\S]*?(?:<message [^>]*\/>|<message [\s\S]*?<\/message>)/.exec(rest) ?? [];
        const piece = rest.includes("<message ") ? whole : rest;
        if (piece === "") return;
        rest = rest.slice(piece.length);
        if (!state.isDeaf) this.#pass(piece, { client, upstream, state });
      }
    });
  }

  #pass(
    piece: string,
    line: { readonly client: Socket; readonly upstream: Socket; readonly state: { isMute: boolean; isDeaf: boolean } },
  ): void {
    const { client, upstream, state } = line;
    const at = piece.indexOf("<message ");
    const fault = at !== -1 && piece.includes("<body>") ? this.#faults.shift() : undefined;
    if (fault === undefined) return void upstream.write(piece);
    const message = piece.slice(at);
    upstream.write(piece.slice(0, at));
    if (fault.kind === "refuse") {
      upstream.write(`<message to="${this.#sink}" type="headline"/>`);
      const [, id = ""] = /\bid="([^"]*)"/.exec(message) ?? [];
      const [, to = ""] = /\bto="([^"]*)"/.exec(message) ?? [];
      client.write(
        `<message type="error" from="${to}" id="${id}"><error type="${fault.type}"><${fault.condition} xmlns="urn:ietf:params:xml:ns:xmpp-stanzas"/></error></message>`,
      );
      return;
    }
    if (fault.isTaken) upstream.write(message);
    if (fault.kind === "cut") {
      upstream.end();
      client.destroy();
      return;
    }
    state.isMute = true;
    state.isDeaf = true;
  }
}
