import type { REST } from "@discordjs/rest";
import type { SessionInfo } from "@discordjs/ws";
import { ChannelError, messageOf } from "../../errors.js";
import type { Logger } from "../../log.js";
import { sleep } from "../../util/async/sleep.js";
import { settledWithin } from "../../util/async/within.js";
import { callError, fatalClose } from "./discord-error.js";

/** Where the connection is in Discord's stream of events: it outlives a run, so that the next one can go on there. */
export interface StreamPosition {
  session: SessionInfo | undefined;
  /** Where Discord wants to be asked for more of that session. */
  resumeUrl?: string | undefined;
  /** Unix ms of the last IDENTIFY. */
  identifiedAt: number;
}

/** One event of the gateway, as it came. READY begins a new session: what was before it is not handed out. */
export interface GatewayEvent {
  readonly type: string;
  readonly data: unknown;
}

export interface ConnectionOptions {
  readonly token: string;
  readonly rest: REST;
  readonly position: StreamPosition;
  readonly onEvent: (event: GatewayEvent) => void;
  /** The connection is open, or has given a sign of life. */
  readonly onAlive: () => void;
  /** How long a lost connection may take to come back before the run ends. */
  readonly reconnectMs: number;
  /** Between two IDENTIFYs; Discord wants 5 s. */
  readonly identifyGapMs: number;
  readonly log: Logger;
}

/** Servers with their threads, messages in them, direct messages, and the text of all. What is told about servers is dropped. */
const intents = 1 + 512 + 4096 + 32_768;
const connectMs = 30_000;
const closeMs = 500;
/** Closes without giving the session up. */
const resumable = { code: 4200, recover: 1 } as const;

/**
 * Listens to the gateway until `signal` aborts. A connection that breaks is resumed by itself, from where it was.
 *
 * @throws {ChannelError} it did not come back in time, or Discord refuses for good
 */
export async function listenToGateway(options: ConnectionOptions, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const library = await import("@discordjs/ws");
  if (!signal.aborted) await new Connection(options, library).listen(signal);
}

class Connection {
  readonly #options: ConnectionOptions;
  readonly #happens: Library["WebSocketShardEvents"];
  readonly #manager: Manager;
  /** Discord says hello to a connection that reaches it: `isHeard` on this one, `wasHeard` on the one before. */
  readonly #greeting = { isHeard: false, wasHeard: true };
  /** The address for everybody. */
  #common: string | undefined;
  #patience: NodeJS.Timeout | undefined;
  #isOver = false;
  #end: (reason?: ChannelError) => void = () => {};

  constructor(options: ConnectionOptions, library: Library) {
    const { token, rest, position } = options;
    this.#options = options;
    this.#happens = library.WebSocketShardEvents;
    this.#manager = new library.WebSocketManager({
      token,
      rest,
      intents,
      shardCount: 1,
      // The library cannot be told to stop while it waits to connect again: it then waits here for ever, and is forgotten.
      retrieveSessionInfo: () => (this.#isOver ? new Promise<never>(() => undefined) : (position.session ?? null)),
      updateSessionInfo: (_shard, session) => this.#keepSession(session ?? undefined),
      buildIdentifyThrottler: async () => ({ waitForIdentify: (_shard, closed) => this.#waitForIdentify(closed) }),
    });
  }

  async listen(signal: AbortSignal): Promise<void> {
    const happens = this.#happens;
    const stop = (): void => this.#end();
    try {
      await new Promise<void>((resolve, reject) => {
        this.#end = (reason) => (reason === undefined ? resolve() : reject(reason));
        signal.addEventListener("abort", stop, { once: true });
        this.#hookIn(happens);
        this.#lose("Discord's gateway did not answer in time.", connectMs);
        // A refusal of the gateway itself comes with its code first, and is the better reason.
        this.#connect().catch((error: unknown) => setImmediate(() => this.#end(callError(error, undefined))));
      });
    } finally {
      this.#isOver = true;
      signal.removeEventListener("abort", stop);
      clearTimeout(this.#patience);
      await close(this.#manager, happens.Closed);
    }
  }

  async #connect(): Promise<void> {
    this.#common = (await this.#manager.fetchGatewayInformation()).url;
    await this.#manager.connect();
  }

  #hookIn(happens: typeof import("@discordjs/ws").WebSocketShardEvents): void {
    const { position, onEvent, onAlive, log } = this.#options;
    this.#manager.on(happens.Hello, () => {
      this.#greeting.isHeard = true;
    });
    this.#manager.on(happens.Ready, () => {
      position.resumeUrl = position.session?.resumeURL;
    });
    this.#manager.on(happens.Closed, ({ code }) => this.#onClosed(code));
    this.#manager.on(happens.Error, ({ error }) =>
      log.debug("the connection to Discord failed", { error: messageOf(error) }),
    );
    this.#manager.on(happens.HeartbeatComplete, () => {
      if (this.#patience === undefined && !this.#isOver) onAlive();
    });
    this.#manager.on(happens.Dispatch, ({ data: { t: type, d: data } }) => {
      if (this.#isOver) return;
      if (type === "READY" || type === "RESUMED") this.#standsAgain();
      onEvent({ type, data });
    });
  }

  #standsAgain(): void {
    clearTimeout(this.#patience);
    this.#patience = undefined;
    this.#options.onAlive();
  }

  #onClosed(code: number): void {
    this.#greeting.wasHeard = this.#greeting.isHeard;
    this.#greeting.isHeard = false;
    const fatal = fatalClose(code);
    if (fatal !== undefined) this.#end(fatal);
    else this.#lose(`The connection to Discord broke (${code}) and did not come back.`, this.#options.reconnectMs);
  }

  #lose(why: string, ms: number): void {
    if (this.#isOver) return;
    this.#patience ??= setTimeout(() => this.#end(new ChannelError(why, { retryable: true })), ms);
  }

  /** The library gives a session up when the network is down. Only Discord can say that it is over. */
  #keepSession(session: SessionInfo | undefined): void {
    if (this.#isOver) return;
    const { position } = this.#options;
    const wasRefused = this.#greeting.isHeard || this.#greeting.wasHeard;
    position.session = session === undefined && !wasRefused ? this.#elsewhere(position.session) : session;
  }

  /** The address to resume at may be what is out of order: in turn with the one for everybody. */
  #elsewhere(session: SessionInfo | undefined): SessionInfo | undefined {
    const own = this.#options.position.resumeUrl;
    if (session === undefined || this.#common === undefined || own === undefined) return session;
    return { ...session, resumeURL: session.resumeURL === own ? this.#common : own };
  }

  async #waitForIdentify(closed: AbortSignal): Promise<void> {
    const { position, identifyGapMs } = this.#options;
    await sleep(Math.max(0, position.identifiedAt + identifyGapMs - Date.now()), closed);
    position.identifiedAt = Date.now();
  }
}

type Library = typeof import("@discordjs/ws");
type Manager = InstanceType<Library["WebSocketManager"]>;

/** A gateway that is gone answers no close: then it is left behind. */
async function close(manager: Manager, event: import("@discordjs/ws").WebSocketShardEvents.Closed): Promise<void> {
  const closed = new Promise<void>((resolve) => manager.once(event, () => resolve()));
  const destroyed = Promise.resolve(manager.destroy(resumable));
  await settledWithin(Promise.race([closed, destroyed]), { ms: closeMs });
}
