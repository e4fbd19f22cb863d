import { randomUUID } from "node:crypto";
import type { WebSocket } from "ws";

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

interface Dispatched {
  readonly op: 0;
  readonly s: number;
  readonly t: string;
  readonly d: unknown;
  readonly id: string;
}

interface Session {
  readonly id: string;
  readonly events: Dispatched[];
  socket: WebSocket | undefined;
}

export interface Identify {
  readonly token?: string;
  readonly intents?: number;
}

type Frame =
  | { readonly op: typeof ops.heartbeat; readonly d: number | null }
  | { readonly op: typeof ops.identify; readonly d: Identify }
  | {
      readonly op: typeof ops.resume;
      readonly d: { readonly token?: string; readonly session_id?: string; readonly seq?: number };
    };

/** A gateway as Discord and QQ have it: numbered events of sessions, which can be resumed on another connection. */
export abstract class ResumedSessions {
  heartbeatMs = 41_250;
  /** Heartbeats are not answered. */
  isMute = false;
  /** What the heartbeats said. */
  readonly beats: (number | null)[] = [];
  /** From which event on sessions were resumed. */
  readonly resumes: number[] = [];
  #sessions: Session[] = [];
  readonly #waiting: (() => void)[] = [];

  /** The connections with a session. */
  get sockets(): readonly WebSocket[] {
    return this.#sessions.flatMap(({ socket }) => socket ?? []);
  }

  /** Sends the greeting, and answers from then on. */
  protected greet(client: WebSocket): void {
    client.on("message", (data) => this.#receive(client, JSON.parse(data.toString())));
    client.on("close", (code) => this.left(client, code));
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
    for (const session of this.#sessions) tell(session, type, data);
  }

  /** From now on no session can be resumed. */
  forgetSessions(): void {
    this.#sessions = [];
  }

  askToReconnect(): void {
    for (const client of this.sockets) send(client, { op: ops.reconnect, d: null });
  }

  closeWith(code: number): void {
    for (const client of this.sockets) client.close(code);
  }

  protected abstract isToken(token: string | undefined): boolean;

  /** Answers `IDENTIFY`: with {@link begin}, {@link refuse} or a closed connection. */
  protected abstract identify(client: WebSocket, asked: Identify): void;

  /** The name of the platform's first event and what it says, then what follows it. */
  protected begin(
    client: WebSocket,
    first: (id: string) => object,
    ...rest: readonly (readonly [string, object])[]
  ): void {
    const session: Session = { id: randomUUID(), events: [], socket: client };
    this.#sessions.push(session);
    tell(session, "READY", first(session.id));
    for (const [type, data] of rest) tell(session, type, data);
    for (const work of this.#waiting.splice(0)) work();
  }

  protected refuse(client: WebSocket): void {
    send(client, { op: ops.invalid, d: false });
  }

  #receive(client: WebSocket, frame: Frame): void {
    if (frame.op === ops.heartbeat) {
      this.beats.push(frame.d);
      if (!this.isMute) send(client, { op: ops.ack });
    } else if (frame.op === ops.identify) this.identify(client, frame.d);
    else if (frame.op === ops.resume) this.#resume(client, frame.d);
  }

  #resume(client: WebSocket, { token, session_id: id, seq = 0 }: Extract<Frame, { readonly op: 6 }>["d"]): void {
    this.resumes.push(seq);
    const session = this.#sessions.find((one) => one.id === id);
    if (session === undefined || !this.isToken(token)) {
      this.refuse(client);
      return;
    }
    session.socket = client;
    for (const event of session.events.filter(({ s }) => s > seq)) send(client, event);
    tell(session, "RESUMED", {});
  }

  /** The connection is closed; its session waits to be resumed. */
  protected left(client: WebSocket, _code: number): void {
    for (const session of this.#sessions) if (session.socket === client) session.socket = undefined;
  }

  protected forgetLeft(): void {
    this.#sessions = this.#sessions.filter(({ socket }) => socket !== undefined);
  }
}

function tell(session: Session, type: string, data: unknown): void {
  const s = session.events.length + 1;
  const event: Dispatched = { op: ops.dispatch, s, t: type, d: data, id: `${type}:${randomUUID()}` };
  session.events.push(event);
  if (session.socket !== undefined) send(session.socket, event);
}

function send(client: WebSocket, frame: object): void {
  if (client.readyState === client.OPEN) client.send(JSON.stringify(frame));
}
