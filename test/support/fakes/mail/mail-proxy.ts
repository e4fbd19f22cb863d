import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { type MailFault, ProxiedConnection } from "./proxied-connection.js";

export interface MailProxyOptions {
  /** Changes what the server says, e.g. what it can do. */
  readonly rewrite?: (text: string) => string;
}

export async function openMailProxy(target: number, options: MailProxyOptions = {}): Promise<MailProxy> {
  const server = createServer({ noDelay: true });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return new MailProxy(server, target, options.rewrite);
}

/** Stands between a mail program and its server, and breaks what passes. */
export class MailProxy implements AsyncDisposable {
  readonly port: number;
  /** Texts of mails that an SMTP server has taken, in order. */
  readonly taken: readonly string[];
  /** All that was said by programs so far. */
  readonly said: readonly string[];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #connections = 0;
  #fault: MailFault | undefined;
  #isRefusing = false;
  #delayMs = 0;

  constructor(server: Server, target: number, rewrite: MailProxyOptions["rewrite"]) {
    // A TCP server that listens has an address with a port.
    ({ port: this.port } = server.address() as AddressInfo);
    const taken: string[] = [];
    const said: string[] = [];
    this.taken = taken;
    this.said = said;
    this.#server = server;
    const line = { target, rewrite, taken, said, delayMs: () => this.#delayMs, takeFault: () => this.#takeFault() };
    server.on("connection", (client) => {
      this.#connections += 1;
      if (this.#isRefusing) client.destroy();
      else for (const socket of new ProxiedConnection(client, line).sockets) this.#keep(socket);
    });
  }

  /** Connections so far. */
  get connections(): number {
    return this.#connections;
  }

  /** What happens to the next mail whose text has been handed over to an SMTP server. */
  failNextMail(fault: MailFault): void {
    this.#fault = fault;
  }

  /** Cuts all connections that there are. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** From now on connections are closed as they come, or not any more. */
  refuse(isOn: boolean): void {
    this.#isRefusing = isOn;
  }

  /** What the server says is passed on this much later. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.cut();
    await closed;
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
  }

  #takeFault(): MailFault | undefined {
    const fault = this.#fault;
    this.#fault = undefined;
    return fault;
  }
}
