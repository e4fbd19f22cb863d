import { z } from "zod";
import { ChannelError, messageOf } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import { backoffMs } from "../../../util/async/backoff.js";
import { keepSocket, type OpenSocket, type SocketLimits } from "../../wire/socket.js";
import type { Account } from "../account.js";
import { closeReason, noRight, title } from "../qq-error.js";
import type { StreamSession } from "./session.js";

export interface GatewayOptions {
  readonly account: Account;
  readonly session: StreamSession;
  /** Instead of the address that QQ names. */
  readonly wsUrl?: string | undefined;
  /** Resolves with true once the event is settled. Never rejects. */
  readonly onEvent: (event: { readonly type: string; readonly data: unknown }) => Promise<boolean>;
  /** The bot's own id, in guilds. */
  readonly onReady: (botId: string | undefined) => void;
  readonly onAlive: () => void;
  readonly limits?: Partial<SocketLimits> | undefined;
  readonly log: Logger;
}

const frame = z.looseObject({
  op: z.number(),
  d: z.unknown().optional(),
  s: z.number().nullish(),
  t: z.string().nullish(),
});
const hello = z.looseObject({ heartbeat_interval: z.number().min(1) });
const ready = z.looseObject({
  session_id: z.string().min(1),
  user: z.looseObject({ id: z.string().optional() }).optional(),
});
const gatewayAnswer = z.looseObject({ url: z.string().min(1) });

const ops = { dispatch: 0, heartbeat: 1, identify: 2, resume: 6, reconnect: 7, invalid: 9, hello: 10 } as const;

const groupsAndUsers = 1 << 25;
const interactions = 1 << 26;
const guilds = 1 << 30;
const guildMessages = 1 << 12;
/** QQ closes on a bot that asks for more than it may: then it is asked for less. */
const rights: readonly number[] = [
  groupsAndUsers | interactions | guilds | guildMessages,
  groupsAndUsers | interactions | guilds,
  groupsAndUsers | interactions,
  groupsAndUsers,
  guilds | guildMessages,
  guilds,
];
/** A heartbeat comes every 41 s or so. */
const silentMs = 100_000;
const loginBackoff = { firstMs: 1000, longestMs: 300_000 };

/** Which rights the bot has asked for; outlives a run. */
export class AskedRights {
  #level = 0;

  get intents(): number {
    return rights[this.#level] ?? guilds;
  }

  get isLess(): boolean {
    return this.#level > 0;
  }

  /** False: there is nothing less to ask for. */
  askLess(): boolean {
    if (this.#level + 1 >= rights.length) {
      this.#level = 0;
      return false;
    }
    this.#level += 1;
    return true;
  }
}

/**
 * Listens to QQ's gateway until `signal` aborts. A connection that breaks is resumed from where everything is durable.
 *
 * @throws {ChannelError} it does not come back, or QQ refuses for good
 */
export async function listenToGateway(options: GatewayOptions, asked: AskedRights, signal: AbortSignal): Promise<void> {
  const connection = new Connection(options, asked, signal);
  try {
    await keepSocket(
      {
        title,
        address: (opening) => connection.address(opening),
        onMessage: (data, _isText, socket) => connection.receive(data, socket),
        onAlive: () => connection.hear(),
        onClosed: (code) => connection.closed(code),
        limits: { silentMs, ...options.limits, pingMs: Number.POSITIVE_INFINITY },
        log: options.log,
      },
      signal,
    );
  } finally {
    connection.end();
  }
}

class Connection {
  readonly #options: GatewayOptions;
  readonly #asked: AskedRights;
  readonly #signal: AbortSignal;
  /** Of the connection that is open: QQ takes it, and events come. */
  #isReady = false;
  #isResuming = false;
  #refusedLogins = 0;
  #heart: NodeJS.Timeout | undefined;

  constructor(options: GatewayOptions, asked: AskedRights, signal: AbortSignal) {
    this.#options = options;
    this.#asked = asked;
    this.#signal = signal;
  }

  async address(signal: AbortSignal): Promise<string> {
    const { account, wsUrl } = this.#options;
    this.#isReady = false;
    // What the login says needs a token that is still good.
    await account.authorization(signal);
    if (wsUrl !== undefined) return wsUrl;
    const said = await account.call({ method: "GET", path: "/gateway", what: "the address of its gateway" }, signal);
    const { data } = gatewayAnswer.safeParse(said);
    if (data === undefined || !/^wss?:\/\//.test(data.url))
      throw new ChannelError("QQ named no gateway. Check channels.qq.apiRoot.", { retryable: true });
    return data.url;
  }

  hear(): void {
    if (this.#isReady) this.#options.onAlive();
  }

  end(): void {
    clearInterval(this.#heart);
  }

  closed(code: number): ChannelError | undefined {
    const { session, log } = this.#options;
    const reason = closeReason(code);
    if (reason.again === "never") return reason.error;
    if (reason.again === "fewer-rights") {
      session.forget();
      if (!this.#asked.askLess()) return noRight();
      log.info("QQ does not let this bot receive everything: it is asked for less", { intents: this.#asked.intents });
    } else if (reason.again === "identify") {
      this.#lose();
      // READY was the proof that the login is good.
      if (!this.#isReady && !this.#isResuming)
        return this.#refusedLogin(`QQ closed the connection (${code}) at the login.`);
    }
    return undefined;
  }

  receive(data: Buffer, socket: OpenSocket): void {
    const { op, d, s, t } = this.#read(data);
    if (op === ops.hello) this.#login(d, socket);
    else if (op === ops.dispatch) this.#dispatch(t ?? "", d, s ?? undefined);
    else if (op === ops.heartbeat) this.#beat(socket);
    else if (op === ops.reconnect) socket.renew();
    else if (op === ops.invalid) this.#invalid(d, socket);
  }

  #read(data: Buffer): z.output<typeof frame> {
    try {
      return frame.parse(JSON.parse(data.toString("utf8")));
    } catch {
      const where = this.#options.wsUrl === undefined ? "the gateway" : "channels.qq.wsUrl";
      throw new ChannelError(`What answers at ${where} is not QQ's gateway.`, { retryable: true });
    }
  }

  #login(data: unknown, socket: OpenSocket): void {
    const { data: said } = hello.safeParse(data);
    if (said === undefined) throw new ChannelError("QQ's gateway did not name its heartbeat.", { retryable: true });
    clearInterval(this.#heart);
    this.#heart = setInterval(() => this.#beat(socket), said.heartbeat_interval);
    this.#later(this.#sendLogin(socket), socket);
  }

  async #sendLogin(socket: OpenSocket): Promise<void> {
    const { account, session } = this.#options;
    const token = await account.authorization(this.#signal);
    const known = session.resumable;
    this.#isResuming = known !== undefined;
    if (known === undefined)
      return await send(socket, ops.identify, { token, intents: this.#asked.intents, shard: [0, 1], properties: {} });
    session.goOn();
    await send(socket, ops.resume, { token, session_id: known.id, seq: known.seq });
  }

  /** With what is durable: nothing that QQ may still have to bring again is given up by it. */
  #beat(socket: OpenSocket): void {
    // A connection that is gone is noticed by its own end.
    send(socket, ops.heartbeat, this.#options.session.seq ?? null).catch(() => clearInterval(this.#heart));
  }

  #dispatch(type: string, data: unknown, seq: number | undefined): void {
    const { session, onEvent, onReady, log } = this.#options;
    if (type === "READY") {
      const { data: said } = ready.safeParse(data);
      if (said === undefined) throw new ChannelError("QQ did not name the session.", { retryable: true });
      session.begin(said.session_id);
      onReady(said.user?.id);
    }
    const settled = seq === undefined ? undefined : session.take(seq);
    if (type === "READY" || type === "RESUMED") this.#goOn();
    onEvent({ type, data })
      .then((isSettled) => (isSettled ? settled?.() : undefined))
      .catch((error: unknown) => log.error("an event of QQ was not settled", { type, error }));
  }

  #goOn(): void {
    this.#isReady = true;
    this.#refusedLogins = 0;
    this.#options.onAlive();
  }

  /** The session is over, or the login was not taken. */
  #invalid(mayResume: unknown, socket: OpenSocket): void {
    if (mayResume !== true) {
      this.#lose();
      if (!this.#isResuming) throw this.#refusedLogin("QQ did not take the login.");
    }
    socket.renew();
  }

  #lose(): void {
    const { account, session, log } = this.#options;
    if (this.#isResuming && !this.#isReady)
      log.warn("QQ does not know the session any more: what came while there was no connection is lost");
    account.forgetToken();
    session.forget();
  }

  /** QQ counts logins: a bot that is refused again and again comes back later each time. */
  #refusedLogin(why: string): ChannelError {
    this.#refusedLogins += 1;
    const retryAfterMs = backoffMs(this.#refusedLogins, loginBackoff);
    return new ChannelError(`${why} Check channels.qq.appId and channels.qq.appSecret.`, {
      retryable: true,
      retryAfterMs,
    });
  }

  #later(work: Promise<void>, socket: OpenSocket): void {
    work.catch((error: unknown) => {
      if (this.#signal.aborted) return;
      this.#options.log.warn(`QQ: the login failed: ${messageOf(error)}`);
      socket.renew();
    });
  }
}

async function send(socket: OpenSocket, op: number, d: unknown): Promise<void> {
  await socket.send(JSON.stringify({ op, d }));
}
