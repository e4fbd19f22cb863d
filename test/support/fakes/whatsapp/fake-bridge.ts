import { setTimeout as pause } from "node:timers/promises";
import type { WebSocket } from "ws";
import { FakeChats } from "../platform/fake-chats.js";
import { type FakeServer, startFakeServer } from "../platform/fake-server.js";

export type BridgeFault =
  | "cut-before"
  | "cut-after"
  | "timeout"
  | "hang"
  | { readonly error: string; readonly retryAfterMs?: number };

/** So long after it has come a client that has sent nothing counts as one that listens. */
const listensAfterMs = 20;

const plain = { type: "message", timestamp: 1, isGroup: false, fromMe: false } as const;

/**
 * The Go maxclaw's bridge: every client hears everything, what nobody hears is gone, and an answer does not say which send it
 * is about. https://github.com/Lichas/maxclaw/blob/main/bridge/src/server.ts
 */
export class FakeBridge implements AsyncDisposable {
  readonly chats = new FakeChats();
  readonly token: string | undefined;
  status: string | undefined = "connected";
  qr: string | undefined;
  /** The bridge brings back what it has sent, as words of the account itself. */
  echoes = false;
  readonly #clients = new Map<WebSocket, { readonly since: number; hasSent: boolean }>();
  readonly #faults: BridgeFault[] = [];
  readonly #stopped = new AbortController();
  #server: FakeServer | undefined;
  #count = 0;
  #forgetsNext = false;
  #last: Promise<void> = Promise.resolve();

  private constructor(token: string | undefined) {
    this.token = token;
  }

  static async start(token?: string): Promise<FakeBridge> {
    const fake = new FakeBridge(token);
    fake.#server = await startFakeServer({
      answer: () => ({ status: 426 }),
      onSocket: (socket) => fake.#greet(socket),
    });
    return fake;
  }

  get server(): FakeServer {
    if (this.#server === undefined) throw new Error("It has not begun");
    return this.#server;
  }

  get url(): string {
    return this.server.url.replace("http", "ws");
  }

  failNext(fault: BridgeFault): void {
    this.#faults.push(fault);
  }

  /** Connections break, and somebody writes at that very moment. */
  loseConnections(): void {
    this.server.loseConnections();
    this.#clients.clear();
    this.#forgetsNext = true;
  }

  /** A person writes while somebody listens: what they write at other times is lost, as with the real one. */
  write(from: string, text: string): string {
    const id = this.#nextId();
    this.#last = this.#last.then(async () => {
      while (!this.#stopped.signal.aborted && !this.#isHeard() && !this.#forgetsNext) await pause(5);
      this.#forgetsNext = false;
      this.say({ ...plain, id, sender: `${from}@s.whatsapp.net`, content: text });
    });
    return id;
  }

  /** Says something to all who are there, whether or not somebody is. */
  say(frame: object): void {
    for (const client of this.#clients.keys()) client.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  }

  tellStatus(status: string): void {
    this.status = status;
    this.say({ type: "status", status });
  }

  showCode(qr: string): void {
    this.qr = qr;
    this.say({ type: "qr", qr });
  }

  #nextId(): string {
    this.#count += 1;
    return `3EB0${this.#count}`;
  }

  #isHeard(): boolean {
    // A connection that was just broken is still here.
    return [...this.#clients].some(
      ([socket, { since, hasSent }]) =>
        socket.readyState === socket.OPEN && !hasSent && Date.now() - since >= listensAfterMs,
    );
  }

  #greet(socket: WebSocket): void {
    if (this.token === undefined) {
      this.#setUp(socket);
      return;
    }
    const late = setTimeout(() => socket.close(4001, "Auth timeout"), 300);
    socket.on("close", () => clearTimeout(late));
    socket.once("message", (data) => {
      clearTimeout(late);
      const said: unknown = JSON.parse(String(data));
      const { type, token } = Object(said);
      if (type === "auth" && token === this.token) this.#setUp(socket);
      else socket.close(4003, "Invalid token");
    });
  }

  #setUp(socket: WebSocket): void {
    const client = { since: Date.now(), hasSent: false };
    this.#clients.set(socket, client);
    socket.on("close", () => this.#clients.delete(socket));
    if (this.status !== undefined) socket.send(JSON.stringify({ type: "status", status: this.status }));
    if (this.qr !== undefined) socket.send(JSON.stringify({ type: "qr", qr: this.qr }));
    socket.on("message", (data) => {
      const { type, to, text } = Object(JSON.parse(String(data)));
      if (type === "auth") return;
      client.hasSent = true;
      this.#send(socket, String(to), String(text));
    });
  }

  #send(socket: WebSocket, to: string, text: string): void {
    const fault = this.#faults.shift();
    const answer = (frame: object): void => socket.send(JSON.stringify(frame));
    if (fault === "cut-before") socket.terminate();
    else if (typeof fault === "object") answer({ type: "error", ...fault });
    else if (!/^\d+(?:-\d+)?@(?:s\.whatsapp\.net|g\.us|lid)$/.test(to) || text === "")
      answer({ type: "error", error: "Error: jid is not known" });
    else if (fault !== "hang") {
      this.#show(to, text);
      if (fault === "cut-after") socket.terminate();
      else if (fault !== "timeout") answer({ type: "sent", to });
    }
  }

  #show(to: string, text: string): void {
    this.chats.show({ chatId: to.replace("@s.whatsapp.net", ""), text });
    if (this.echoes) this.say({ ...plain, id: this.#nextId(), sender: to, content: text, fromMe: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped.abort();
    await this.#last;
    await this.server[Symbol.asyncDispose]();
  }
}
