import { connect, type Socket } from "node:net";
import { StringDecoder } from "node:string_decoder";
import { connect as connectTls } from "node:tls";
import { ChannelError, messageOf } from "../../../errors.js";
import { isLoopback } from "../../../util/loopback.js";
import { whyUnreached } from "../../../util/text/why-unreached.js";
import { statusSentence } from "../../../util/words/status-sentences.js";
import { openWebFrames, type WebFrames } from "../../wire/web-frames.js";
import { ns } from "../namespaces.js";
import { streamError } from "../xmpp-error.js";
import type { ServerAddress } from "./address.js";
import { XmlError, XmlParser } from "./parser.js";
import { write, type Xml, xml } from "./xml.js";

export interface WireOptions {
  readonly domain: string;
  /** Beside those that Node knows: certificates that vouch for the server. */
  readonly ca?: string | undefined;
}

/** One connection that carries elements both ways. Everything that ends it is in `closed`. */
export class Wire {
  /** Resolves with why it ended. */
  readonly closed: Promise<ChannelError>;
  readonly #address: ServerAddress;
  readonly #options: WireOptions;
  #end: (error: ChannelError) => void = () => undefined;
  #isEnded = false;
  #socket: Socket | undefined;
  #frames: WebFrames | undefined;
  #parser: XmlParser | undefined;
  #decoder = new StringDecoder("utf8");
  #isSecure = false;
  #listener: ((element: Xml) => void) | undefined;
  readonly #waiting: Xml[] = [];

  private constructor(address: ServerAddress, options: WireOptions) {
    this.#address = address;
    this.#options = options;
    this.closed = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** Resolves once it is open. @throws {ChannelError} */
  static async open(address: ServerAddress, options: WireOptions, signal: AbortSignal): Promise<Wire> {
    const wire = new Wire(address, options);
    const onAbort = (): void => wire.destroy(new ChannelError("The connection was given up.", { retryable: true }));
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      await Promise.race([wire.#connect(), wire.#failed()]);
      return wire;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  get isSecure(): boolean {
    return this.#isSecure;
  }

  /** Nobody but this machine can listen in. */
  get isLocal(): boolean {
    return isLoopback(this.#address.host);
  }

  get canSecure(): boolean {
    return this.#address.by === "starttls" && !this.#isSecure;
  }

  /** Begins a stream of XML, the first one or a new one after a step of the login. */
  restart(): void {
    // What was said before a step of the login was not said by whom it proves. Before TLS it can be anybody's.
    this.#waiting.length = 0;
    if (this.#frames !== undefined) {
      this.#writeText(write(xml("open", ns.framing, { to: this.#options.domain, version: "1.0" })));
      return;
    }
    this.#decoder = new StringDecoder("utf8");
    this.#parser = this.#newParser();
    const { domain } = this.#options;
    this.#writeText(
      `<?xml version="1.0"?><stream:stream xmlns="${ns.client}" xmlns:stream="${ns.stream}" to="${domain}" version="1.0">`,
    );
  }

  /** The next element. @throws {ChannelError} the connection ends first */
  async next(): Promise<Xml> {
    const first = this.#waiting.shift();
    if (first !== undefined) return first;
    const coming = new Promise<Xml>((resolve) => {
      this.#listener = (element) => {
        this.#listener = undefined;
        resolve(element);
      };
    });
    return await Promise.race([coming, this.#failed()]);
  }

  /** From now on, and for what has come already. What it throws ends the connection. */
  listen(onElement: (element: Xml) => void): void {
    this.#listener = onElement;
    for (const element of this.#waiting.splice(0)) this.#guarded(() => onElement(element));
  }

  /** False: it is not open any more, and nothing has left. */
  send(element: Xml): boolean {
    if (this.#isEnded) return false;
    this.#writeText(write(element, this.#frames === undefined ? ns.client : ""));
    return true;
  }

  /** Puts TLS around the connection. @throws {ChannelError} */
  async secure(): Promise<void> {
    const plain = this.#socket;
    if (plain === undefined) return;
    plain.removeAllListeners();
    const { domain, ca } = this.#options;
    const socket = connectTls({ socket: plain, servername: domain, ...this.#trust(ca) });
    this.#parser = undefined;
    await Promise.race([this.#opened(socket, "secureConnect"), this.#failed()]);
    this.#isSecure = true;
  }

  /** An open connection that nobody uses does not keep the process going. */
  holdProcess(isHeld: boolean): void {
    if (isHeld) this.#socket?.ref();
    else this.#socket?.unref();
  }

  /** Says goodbye, and cuts. */
  close(): void {
    if (!this.#isEnded)
      this.#writeText(this.#frames === undefined ? "</stream:stream>" : write(xml("close", ns.framing)));
    this.destroy(new ChannelError("The connection to the XMPP server was closed.", { retryable: true }), true);
  }

  destroy(error: ChannelError, isPolite = false): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    if (isPolite) this.#socket?.destroySoon();
    else this.#socket?.destroy();
    this.#frames?.end(isPolite);
    this.#end(error);
  }

  async #failed(): Promise<never> {
    throw await this.closed;
  }

  async #connect(): Promise<void> {
    const { by, host, port, url } = this.#address;
    const { domain, ca } = this.#options;
    if (by === "websocket") return await this.#connectWeb(url ?? "");
    const socket =
      by === "tls"
        ? connectTls({ host, port, servername: domain, ALPNProtocols: ["xmpp-client"], ...this.#trust(ca) })
        : connect({ host, port });
    await this.#opened(socket, by === "tls" ? "secureConnect" : "connect");
    this.#isSecure = by === "tls";
  }

  /** The certificate is that of the JID's domain. To this machine itself any will do. */
  #trust(ca: string | undefined): { readonly ca?: string; readonly rejectUnauthorized?: boolean } {
    if (ca !== undefined) return { ca };
    return this.isLocal ? { rejectUnauthorized: false } : {};
  }

  #opened(socket: Socket, event: "connect" | "secureConnect"): Promise<void> {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 60_000);
    socket.on("error", (error) => this.destroy(this.#unreached(error)));
    socket.on("close", () => this.destroy(lost()));
    socket.on("data", (bytes) => this.#guarded(() => this.#parser?.write(this.#decoder.write(bytes))));
    return new Promise((resolve) => socket.once(event, resolve));
  }

  async #connectWeb(url: string): Promise<void> {
    const { ca } = this.#options;
    await new Promise<void>((resolve) => {
      const trust = this.#trust(ca);
      this.#frames = openWebFrames(
        { url, protocol: "xmpp", maxBytes: 2 * 1024 * 1024, ...trust },
        {
          onOpen: resolve,
          // Each is a whole element, which is read as if it were in a stream.
          onText: (text) =>
            this.#guarded(() => {
              const parser = this.#newParser();
              parser.write("<stream>");
              parser.write(text);
            }),
          onError: (error) => this.destroy(this.#unreached(error)),
          onClose: () => this.destroy(lost()),
        },
      );
    });
    this.#isSecure = url.toLowerCase().startsWith("wss:");
  }

  #newParser(): XmlParser {
    return new XmlParser({
      onOpen: () => undefined,
      onElement: (element) => this.#take(element),
      onEnd: () => this.destroy(lost()),
    });
  }

  #take(element: Xml): void {
    if (this.#isEnded || element.is("open", ns.framing)) return;
    if (element.is("close", ns.framing)) this.destroy(lost());
    else if (element.is("error", ns.stream)) this.destroy(streamError(element));
    else if (this.#listener === undefined) this.#waiting.push(element);
    else this.#listener(element);
  }

  #guarded(work: () => void): void {
    try {
      work();
    } catch (cause) {
      const why = `What the XMPP server sent cannot be read: ${messageOf(cause)}.`;
      this.destroy(new ChannelError(why, { retryable: true, ...(cause instanceof XmlError ? {} : { cause }) }));
    }
  }

  #unreached(error: Error): ChannelError {
    const why = whyUnreached(error) ?? "the connection broke";
    return new ChannelError(
      statusSentence("server_unreachable", { kind: "XMPP", host: this.#address.host, reason: why }),
      { retryable: true },
    );
  }

  #writeText(text: string): void {
    if (this.#frames !== undefined) this.#frames.send(text);
    else this.#socket?.write(text);
  }
}

function lost(): ChannelError {
  return new ChannelError("The connection to the XMPP server was lost.", { retryable: true });
}
