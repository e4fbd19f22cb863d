import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { ns } from "../../../../src/channels/xmpp/namespaces.js";
import { XmlParser } from "../../../../src/channels/xmpp/stream/parser.js";
import { write, type Xml, xml } from "../../../../src/channels/xmpp/stream/xml.js";

export interface ScriptedXmppOptions {
  /** Asks for TLS first. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Sent in the same piece as the word that TLS may begin. */
  readonly beforeTls?: string;
  readonly mechanism?: string;
  /** What it says to an element of the client, as XML; undefined: what a usual server says. */
  readonly answer?: (element: Xml) => string | undefined;
}

/** An XMPP server that says what a real one never would. Its one account is max@maxclaw.test. */
export class ScriptedXmpp implements AsyncDisposable {
  readonly port: number;
  /** All that the client has sent. */
  readonly elements: Xml[] = [];
  readonly #server: Server;
  readonly #options: ScriptedXmppOptions;
  readonly #sockets = new Set<Socket>();
  #newest: Socket | undefined;
  #counted = 0;

  private constructor(server: Server, options: ScriptedXmppOptions) {
    // A TCP server that listens has an address with a port.
    ({ port: this.port } = server.address() as AddressInfo);
    this.#server = server;
    this.#options = options;
    server.on("connection", (socket) => {
      this.#sockets.add(socket.setNoDelay(true));
      this.#serve(socket, { isSecure: options.tls === undefined, isLoggedIn: false });
    });
  }

  static async start(options: ScriptedXmppOptions = {}): Promise<ScriptedXmpp> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new ScriptedXmpp(server, options);
  }

  get service(): string {
    return `xmpp://127.0.0.1:${this.port}`;
  }

  say(text: string): void {
    this.#newest?.write(text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #serve(socket: Socket, state: { readonly isSecure: boolean; isLoggedIn: boolean }): void {
    this.#newest = socket;
    const parserOf = (): XmlParser =>
      new XmlParser({
        onOpen: () =>
          void socket.write(
            `<?xml version='1.0'?><stream:stream xmlns='${ns.client}' xmlns:stream='${ns.stream}' id='1' version='1.0'>${this.#features(state)}`,
          ),
        onElement: (element) => {
          if (element.is("starttls", ns.tls)) return this.#secure(socket);
          if (element.ns === ns.client) this.#counted += 1;
          this.elements.push(element);
          const said = this.#options.answer?.(element) ?? this.#usual(element);
          if (said !== "") socket.write(said);
          if (said.includes("<success")) {
            state.isLoggedIn = true;
            parser = parserOf();
          }
        },
        onEnd: () => socket.end(),
      });
    let parser = parserOf();
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => parser.write(bytes.toString()));
  }

  #secure(socket: Socket): void {
    const { tls, beforeTls = "" } = this.#options;
    socket.removeAllListeners("data");
    socket.write(`<proceed xmlns='${ns.tls}'/>${beforeTls}`, () => {
      this.#serve(new TLSSocket(socket, { isServer: true, ...tls }), { isSecure: true, isLoggedIn: false });
    });
  }

  #features({ isSecure, isLoggedIn }: { readonly isSecure: boolean; readonly isLoggedIn: boolean }): string {
    if (!isSecure) return featuresWith(xml("starttls", ns.tls, {}, xml("required", ns.tls)));
    if (isLoggedIn) return featuresWith(xml("bind", ns.bind), xml("sm", ns.management));
    const mechanism = xml("mechanism", ns.sasl, {}, this.#options.mechanism ?? "PLAIN");
    return featuresWith(xml("mechanisms", ns.sasl, {}, mechanism));
  }

  #usual(element: Xml): string {
    if (element.is("auth", ns.sasl)) return write(xml("success", ns.sasl));
    if (element.is("enable", ns.management)) return write(xml("enabled", ns.management));
    if (element.is("r", ns.management)) return write(xml("a", ns.management, { h: String(this.#counted - 1) }));
    if (element.name !== "iq" || !/^[gs]et$/.test(element.attribute("type") ?? "")) return "";
    const [asked] = element.elements();
    if (asked?.is("bind", ns.bind)) {
      const jid = xml("jid", ns.bind, {}, `max@maxclaw.test/${asked.textOf("resource", ns.bind)}`);
      return resultOf(element, xml("bind", ns.bind, {}, jid));
    }
    return resultOf(element, ...(asked?.is("query", ns.info) ? [xml("query", ns.info)] : []));
  }
}

function featuresWith(...features: readonly Xml[]): string {
  return `<stream:features>${features.map((feature) => write(feature, ns.client)).join("")}</stream:features>`;
}

/** The answer to a question, from whom it was asked. */
export function resultOf(iq: Xml, ...children: readonly Xml[]): string {
  const about = { type: "result", id: iq.attribute("id"), from: iq.attribute("to") };
  return write(xml("iq", ns.client, about, ...children), ns.client);
}
