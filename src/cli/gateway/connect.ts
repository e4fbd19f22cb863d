import { join } from "node:path";
import { z } from "zod";
import { faultSentence } from "../../config/faults/fault.js";
import { EngineError } from "../../errors.js";
import {
  findRunningGateway,
  hasAddress,
  holderOf,
  type RunningGateway,
  whenFree,
} from "../../offline/running-gateway.js";
import type { CommandContext } from "../context.js";
import { CommandError } from "../exit.js";
import { printNote } from "../text/output.js";
import { type ApiClient, ConnectionLost, createApiClient } from "./api-client.js";
import { loadGateway } from "./port.js";

/** A gateway to talk to: the one that runs, or one of our own for the length of a command. */
export interface Connection extends AsyncDisposable {
  readonly client: ApiClient;
  /** Ours ends with the command. */
  readonly isOwn: boolean;
}

export interface ConnectOptions {
  readonly version: string;
  /** What the command began may finish for this long before our own gateway stops. */
  readonly graceMs: number;
  /** Whether our own gateway answers messages, or is only looked at. */
  readonly isWorking: boolean;
}

/** The gateway that runs for this home, or undefined. */
export async function connectRunning({ home, loaded }: CommandContext): Promise<ApiClient | undefined> {
  const running = await findRunningGateway(home, new AbortController().signal);
  if (running === undefined) return undefined;
  const { unparsable } = loaded;
  const pid = running.elsewhere === undefined ? running.pid : undefined;
  const tokenHint =
    unparsable &&
    `${faultSentence(unparsable.path, unparsable)}. Correct it, or set MAXCLAW_TOKEN to the gateway's token.`;
  const client = createApiClient(running.address, loaded.config.gateway.token, { pid, tokenHint });
  if (running.elsewhere !== undefined) return await sameGateway(client, running, home);
  try {
    await client.get("/health");
    return client;
  } catch (error) {
    // It has only just ended, or begins to.
    if (error instanceof ConnectionLost && (!error.wasReached || (await holderOf(home))?.pid !== running.pid))
      return undefined;
    if (error instanceof ConnectionLost) throw error;
    throw new CommandError(
      `The gateway (process ${running.pid}) at ${running.address} does not answer properly. Look at: maxclaw logs. Then restart it.`,
    );
  }
}

const instance = z.object({ instanceId: z.string() });

/** The address of one in another container can mean nobody here, or the gateway of another home. */
async function sameGateway(client: ApiClient, running: RunningGateway, home: string): Promise<ApiClient> {
  const found = await client.get("/api/status").then(
    (status) => instance.safeParse(status).data?.instanceId,
    (error: unknown) => {
      if (error instanceof ConnectionLost) return undefined;
      throw error;
    },
  );
  if (found !== undefined && found === running.instanceId) return client;
  throw elsewhereError(home, running);
}

/** Says where the gateway is that uses this home, and that this command cannot talk to it. */
function elsewhereError(home: string, { elsewhere, address }: RunningGateway): CommandError {
  return new CommandError(
    `${home} is in use by a gateway in another container or machine, ${elsewhere}, and at ${address} it cannot be reached from here. Run this command there, or stop that gateway first.`,
  );
}

/** Attaches to the gateway that runs, else opens one without chat platforms on a free port of this machine. */
export async function connect(
  context: CommandContext,
  { version, graceMs, isWorking }: ConnectOptions,
  triesLeft = 20,
): Promise<Connection> {
  const running = await connectRunning(context);
  if (running !== undefined) return { client: running, isOwn: false, [Symbol.asyncDispose]: async () => {} };
  try {
    return await openOwn(context, { version, graceMs, isWorking });
  } catch (error) {
    // Another command has not ended yet, or a gateway starts just now.
    if (!(error instanceof EngineError) || error.kind !== "locked" || triesLeft === 0) throw error;
    const holder = await awaitOthers(context.home);
    if (holder !== undefined && !hasAddress(holder)) throw error;
    return await connect(context, { version, graceMs, isWorking }, triesLeft - 1);
  }
}

/** Waits for another command that uses this home. Returns who still does. */
export function awaitOthers(home: string): ReturnType<typeof whenFree> {
  return whenFree(home, ({ pid }) =>
    printNote(`Another maxclaw (process ${pid}) uses ${home}. Waiting for it, for up to ten seconds …`),
  );
}

async function openOwn(context: CommandContext, { version, graceMs, isWorking }: ConnectOptions): Promise<Connection> {
  const [openGateway, { createLog }] = await Promise.all([loadGateway(), import("../../pino-log.js")]);
  const { home, loaded } = context;
  const log = createLog({
    level: loaded.config.log.level,
    file: join(home, "logs", "gateway.log"),
    stderr: false,
    secrets: loaded.secrets,
  });
  const gateway = await openGateway({
    config: loaded,
    home,
    log,
    version,
    env: process.env,
    http: { host: "127.0.0.1", port: 0 },
    runs: { channels: false, work: isWorking },
  });
  return {
    client: createApiClient(gateway.address, loaded.config.gateway.token),
    isOwn: true,
    async [Symbol.asyncDispose]() {
      await gateway.drain(graceMs);
      await gateway[Symbol.asyncDispose]();
      log.flush();
    },
  };
}
