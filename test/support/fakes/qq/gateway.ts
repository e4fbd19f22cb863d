import { randomUUID } from "node:crypto";
import type { WebSocket } from "ws";

interface Session {
  readonly id: string;
  readonly events: {
    readonly op: 0;
    readonly s: number;
    readonly t: string;
    readonly d: unknown;
    readonly id: string;
  }[];
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

/** QQ's gateway: keeps sessions, and hands out again what they missed. */
export class FakeQqGateway {
  heartbeatMs = 41_250;
  /** Heartbeats are not answered. */
  isMute = false;
  /** An IDENTIFY that asks for more than these is closed with 4014. */
  allowedIntents = -1;
  /** Answers each IDENTIFY with `op 9`. */
  refusesLogins = false;
  readonly identifies: number[] = [];
  readonly resumes: number[] = [];
  /** What the heartbeats said. */
  readonly beats: (number | null)[] = [];
  readonly #isToken: (token: string) => boolean;
  readonly #botId: string;
  #sessions: Session[] = [];
  readonly #waiting: (() => void)[] = [];

  constructor(isToken: (token: string) => boolean, botId: string) {
    this.#isToken = isToken;
    this.#botId = botId;
  }

  get sockets(): readonly WebSocket[] {
    return this.#sessions.flatMap(({ socket }) => socket ?? []);
  }

  open(client: WebSocket): void {
    client.on("message", (data) => this.#receive(client, JSON.parse(data.toString())));
    client.on("close", () => {
      for (const session of this.#sessions) if (session.socket === client) session.socket = undefined;
    });
    send(client, { op: ops.hello, d: { heartbeat_interval: this.heartbeatMs } });
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

  /** From now on no session can be resumed. */
  forgetSessions(): void {
    this.#sessions = [];
  }

  askToReconnect(): void {
    for (const client of this.sockets) send(client, { op: ops.reconnect });
  }

  /** Something that is not in QQ's documents. */
  sendRaw(text: string): void {
    for (const client of this.sockets) client.send(text);
  }

  closeWith(code: number): void {
    for (const client of this.sockets) client.close(code);
  }

  #receive(client: WebSocket, { op, d }: Frame): void {
    if (op === ops.heartbeat) {
      // The heartbeat's `d` is a number.
      this.beats.push(d as unknown as number | null);
      if (!this.isMute) send(client, { op: ops.ack });
    } else if (op === ops.identify) this.#identify(client, d);
    else if (op === ops.resume) this.#resume(client, d);
  }

  #identify(client: WebSocket, { token = "", intents = 0 }: Frame["d"]): void {
    this.identifies.push(intents);
    if (!this.#isToken(token) || this.refusesLogins) {
      send(client, { op: ops.invalid, d: false });
      return;
    }
    if ((intents & ~this.allowedIntents) !== 0) {
      client.close(4014);
      return;
    }
    const session: Session = { id: randomUUID(), events: [], socket: client };
    this.#sessions = [session];
    this.#tell(session, "READY", { version: 1, session_id: session.id, user: { id: this.#botId, bot: true } });
    for (const work of this.#waiting.splice(0)) work();
  }

  #resume(client: WebSocket, { token = "", session_id: id, seq = 0 }: Frame["d"]): void {
    this.resumes.push(seq);
    const session = this.#sessions.find((one) => one.id === id);
    if (session === undefined || !this.#isToken(token)) {
      send(client, { op: ops.invalid, d: false });
      return;
    }
    session.socket = client;
    for (const event of session.events.filter(({ s }) => s > seq)) send(client, event);
    this.#tell(session, "RESUMED", "");
  }

  #tell(session: Session, type: string, data: unknown): void {
    const event = { op: ops.dispatch, s: session.events.length + 1, t: type, d: data, id: `${type}:${randomUUID()}` };
    session.events.push(event);
    if (session.socket !== undefined) send(session.socket, event);
  }
}

function send(client: WebSocket, frame: object): void {
  client.send(JSON.stringify(frame));
}
