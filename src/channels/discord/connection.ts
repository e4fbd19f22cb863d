import type { REST } from "@discordjs/rest";
import type { SessionInfo } from "@discordjs/ws";
import { ChannelError, messageOf } from "../../errors.js";
import type { Logger } from "../../log.js";
import { sleep } from "../../util/async/sleep.js";
import { loadLibrary } from "./api.js";
import { callError, fatalClose } from "./discord-error.js";

/** Where the connection stands in Discord's stream of events: it outlives a run, so that the next one can go on there. */
export interface Place {
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
  readonly place: Place;
  readonly onEvent: (event: GatewayEvent) => void;
  /** The connection stands, or has given a sign of life. */
  readonly onAlive: () => void;
  /** How long a lost connection may take to come back before the run ends. */
  readonly reconnectMs: number;
  /** Between two IDENTIFYs; Discord wants 5 s. */
  readonly identifyGapMs: number;
  readonly log: Logger;
}

/** Servers with their threads, messages in them, direct messages, and the text of all. What is told of servers is dropped. */
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
  const { token, rest, place, onEvent, onAlive, reconnectMs, identifyGapMs, log } = options;
  const { WebSocketManager, WebSocketShardEvents: happens } = loadLibrary("@discordjs/ws");
  if (signal.aborted) return;
  let isOver = false;
  let common: string | undefined;
  const greeting = { isHeard: false, wasHeard: true };
  /** The address to resume at may be what is out of order: in turn with the one for everybody. */
  const elsewhere = (session: SessionInfo | undefined): SessionInfo | undefined => {
    const own = place.resumeUrl;
    if (session === undefined || common === undefined || own === undefined) return session;
    return { ...session, resumeURL: session.resumeURL === own ? common : own };
  };
  let patience: ReturnType<typeof setTimeout> | undefined;
  const manager = new WebSocketManager({
    token,
    rest,
    intents,
    shardCount: 1,
    // The library cannot be told to stop while it waits to connect again: it then waits here for ever, and is forgotten.
    retrieveSessionInfo: () => (isOver ? new Promise<never>(() => undefined) : (place.session ?? null)),
    updateSessionInfo(_shard, session) {
      if (isOver) return;
      // It gives a session up when the network is down. Only Discord can say that it is over.
      if (session === null && !greeting.isHeard && !greeting.wasHeard) place.session = elsewhere(place.session);
      else place.session = session ?? undefined;
    },
    buildIdentifyThrottler: async () => ({
      async waitForIdentify(_shard, closed) {
        await sleep(Math.max(0, place.identifiedAt + identifyGapMs - Date.now()), closed);
        place.identifiedAt = Date.now();
      },
    }),
  });
  const over = new Promise<void>((resolve, reject) => {
    const lose = (why: string, ms = reconnectMs): void => {
      if (!isOver) patience ??= setTimeout(() => reject(new ChannelError(why, { retryable: true })), ms);
    };
    const standsAgain = (): void => {
      clearTimeout(patience);
      patience = undefined;
      onAlive();
    };
    signal.addEventListener("abort", () => resolve(), { once: true });
    manager.on(happens.Hello, () => {
      greeting.isHeard = true;
    });
    manager.on(happens.Ready, () => {
      place.resumeUrl = place.session?.resumeURL;
    });
    manager.on(happens.Closed, ({ code }) => {
      greeting.wasHeard = greeting.isHeard;
      greeting.isHeard = false;
      const fatal = fatalClose(code);
      if (fatal !== undefined) reject(fatal);
      else lose(`The connection to Discord broke (${code}) and did not come back.`);
    });
    manager.on(happens.Error, ({ error }) =>
      log.debug("the connection to Discord failed", { error: messageOf(error) }),
    );
    manager.on(happens.HeartbeatComplete, () => {
      if (patience === undefined && !isOver) onAlive();
    });
    manager.on(happens.Dispatch, ({ data: { t: type, d: data } }) => {
      if (isOver) return;
      if (type === "READY" || type === "RESUMED") standsAgain();
      onEvent({ type, data });
    });
    lose("Discord's gateway did not answer in time.", connectMs);
    // A refusal of the gateway itself comes with its code first, and is the better reason.
    manager
      .fetchGatewayInformation()
      .then(({ url }) => {
        common = url;
        return manager.connect();
      })
      .catch((error: unknown) => setImmediate(() => reject(callError(error, undefined))));
  });
  try {
    await over;
  } finally {
    isOver = true;
    clearTimeout(patience);
    await closed(manager, happens.Closed);
  }
}

type Manager = InstanceType<typeof import("@discordjs/ws")["WebSocketManager"]>;

/** A gateway that is gone answers no close: then it is left behind. */
async function closed(manager: Manager, event: import("@discordjs/ws").WebSocketShardEvents.Closed): Promise<void> {
  await new Promise<void>((resolve) => {
    const limit = setTimeout(resolve, closeMs);
    const done = (): void => {
      clearTimeout(limit);
      resolve();
    };
    manager.once(event, done);
    Promise.resolve(manager.destroy(resumable)).then(done, done);
  });
}
