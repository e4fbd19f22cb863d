import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";

interface Session {
  readonly id: string;
  readonly events: { readonly op: 0; readonly s: number; readonly t: string; readonly d: unknown }[];
  socket: WebSocket | undefined;
}

interface Frame {
  readonly op: number;
  readonly d: {
    readonly token?: string;
    readonly session_id?: string;
    readonly seq?: number;
    readonly intents?: number;
  };
}

const ops = {
  dispatch: 0,
  heartbeat: 1,
  identify: 2,
  resume: 6,
  reconnect: 7,
  invalid: 9,
  hello: 10,
  ack: 11,
} as const;

/** Discord's gateway: keeps sessions that were not closed in an orderly way, and hands out again what they missed. */
export class FakeDiscordGateway {
  url = "";
  /** Closes each IDENTIFY with this code. */
  refuseIdentifyWith: number | undefined;
  /** Heartbeats are not answered. */
  isMute = false;
  /** False: as slow as Discord can be with it. */
  tellsOfServers = true;
  readonly identifies: number[] = [];
  resumes = 0;
  heartbeats = 0;
  /** Intents of the last IDENTIFY. */
  intents = 0;
  readonly #token: string;
  readonly #ready: object;
  readonly #guild: object;
  readonly #heartbeatMs: number;
  readonly #sockets = new WebSocketServer({ noServer: true });
  #sessions: Session[] = [];
  #refusedUntil = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(
    token: string,
    { guild, ...ready }: { readonly guild: object; readonly [field: string]: unknown },
    { heartbeatMs = 41_250 }: { readonly heartbeatMs?: number },
  ) {
    this.#token = token;
    this.#guild = guild;
    this.#ready = ready;
    this.#heartbeatMs = heartbeatMs;
  }

  get connections(): number {
    return this.#sockets.clients.size;
  }

  /** Sessions with a connection that has been greeted. */
  get listening(): number {
    return this.#sessions.filter(({ socket }) => socket !== undefined).length;
  }

  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    if (Date.now() < this.#refusedUntil) {
      socket.destroy();
      return;
    }
    this.#sockets.handleUpgrade(request, socket, head, (client) => {
      client.on("error", () => client.terminate());
      client.on("message", (data) => this.#receive(client, JSON.parse(data.toString())));
      client.on("close", (code) => this.#left(client, code));
      send(client, { op: ops.hello, d: { heartbeat_interval: this.#heartbeatMs } });
    });
  }

  /** Does it once there is a session that hears about it: what came before one is told to nobody. */
  whenKnown<T>(work: () => T): Promise<T> {
    return new Promise((resolve) => {
      if (this.#sessions.length > 0) resolve(work());
      else this.#waiting.push(() => resolve(work()));
    });
  }

  dispatch(type: string, data: unknown): void {
    for (const session of this.#sessions) this.#tell(session, type, data);
  }

  /** Breaks all connections; new ones are refused for so long. */
  lose(refuseMs = 0): void {
    this.#refusedUntil = Date.now() + refuseMs;
    for (const client of this.#sockets.clients) client.terminate();
  }

  /** From now on no session can be resumed. */
  forgetSessions(): void {
    this.#sessions = [];
  }

  askToReconnect(): void {
    for (const client of this.#sockets.clients) send(client, { op: ops.reconnect, d: null });
  }

  invalidate(): void {
    this.forgetSessions();
    for (const client of this.#sockets.clients) send(client, { op: ops.invalid, d: false });
  }

  closeWith(code: number): void {
    for (const client of this.#sockets.clients) client.close(code);
  }

  close(): void {
    for (const client of this.#sockets.clients) client.terminate();
    this.#sockets.close();
  }

  #receive(client: WebSocket, { op, d }: Frame): void {
    if (op === ops.heartbeat) {
      this.heartbeats += 1;
      if (!this.isMute) send(client, { op: ops.ack });
    } else if (op === ops.identify) this.#identify(client, d);
    else if (op === ops.resume) this.#resume(client, d);
  }

  #identify(client: WebSocket, { token, intents = 0 }: Frame["d"]): void {
    this.identifies.push(Date.now());
    this.intents = intents;
    const refusal = token === this.#token ? this.refuseIdentifyWith : 4004;
    if (refusal !== undefined) {
      client.close(refusal);
      return;
    }
    const session: Session = { id: randomBytes(8).toString("hex"), events: [], socket: client };
    this.#sessions.push(session);
    const more = { session_id: session.id, resume_gateway_url: this.url, guilds: [], v: 10 };
    this.#tell(session, "READY", { ...this.#ready, ...more });
    if (this.tellsOfServers) this.#tell(session, "GUILD_CREATE", this.#guild);
    for (const work of this.#waiting.splice(0)) work();
  }

  #resume(client: WebSocket, { token, session_id: id, seq = 0 }: Frame["d"]): void {
    this.resumes += 1;
    const session = this.#sessions.find((one) => one.id === id);
    if (token !== this.#token || session === undefined) {
      send(client, { op: ops.invalid, d: false });
      return;
    }
    session.socket = client;
    for (const event of session.events) if (event.s > seq) send(client, event);
    this.#tell(session, "RESUMED", {});
  }

  #tell(session: Session, type: string, data: unknown): void {
    const event = { op: ops.dispatch, s: session.events.length + 1, t: type, d: data };
    session.events.push(event);
    if (session.socket !== undefined) send(session.socket, event);
  }

  #left(client: WebSocket, code: number): void {
    for (const session of this.#sessions) if (session.socket === client) session.socket = undefined;
    if (code === 1000 || code === 1001) this.#sessions = this.#sessions.filter(({ socket }) => socket !== undefined);
  }
}

function send(client: WebSocket, frame: object): void {
  if (client.readyState === client.OPEN) client.send(JSON.stringify(frame));
}
