import { z } from "zod";
import type { GatewayFiles } from "../../offline/events.js";
import type { CommandContext } from "../context.js";
import { CommandError } from "../exit.js";
import type { ApiClient, ServerEvent } from "./api-client.js";

const heldSegment = z.object({ path: z.string(), bytes: z.number() });
const workspaceOf = z.object({ workspace: z.string() });
const lostReason = z.object({ error: z.string() });

/** What is done with the files. `release` says that they need not be still any longer. */
type FilesAction<T> = (files: GatewayFiles, signal: AbortSignal, release: () => void) => Promise<T>;

/** `conversations`: nothing can be done where they are in a database. `files`: with the others, then. */
export type Wanted = "conversations" | "files";

/**
 * Runs an action on the files of this home. A gateway that runs keeps them still meanwhile, and goes on with its work;
 * should it stop, the action's signal aborts.
 */
export async function withFiles<T>(
  context: CommandContext,
  action: FilesAction<T>,
  wanted: Wanted = "conversations",
): Promise<T> {
  const { home, loaded } = context;
  const files = { home, workspace: loaded.config.agents.defaults.workspace };
  if (loaded.config.engine.kind !== "embedded") {
    const { assertInFiles } = await import("./in-database.js");
    if (wanted === "conversations") assertInFiles(loaded.config);
    // No journal counts, and no lock is needed: what is copied is not written by the engine.
    return await action({ ...files, segment: { path: "", bytes: 0 } }, new AbortController().signal, () => {});
  }
  const client = await findClient(context);
  if (client === undefined) return await action(files, new AbortController().signal, () => {});
  // Its config may be another one than what this command has found.
  const { workspace } = workspaceOf.parse(await client.get("/api/status"));
  return await whileHeld(client, { home, workspace }, action);
}

/** The gateway that has the files, once nobody has them who cannot be talked to; undefined where nobody has them. */
async function findClient(context: CommandContext, triesLeft = 20): Promise<ApiClient | undefined> {
  const [{ awaitOthers, connectRunning }, { hasAddress }] = await Promise.all([
    import("./connect.js"),
    import("../../offline/running-gateway.js"),
  ]);
  const client = await connectRunning(context);
  if (client !== undefined) return client;
  const holder = await awaitOthers(context.home);
  if (holder === undefined) return undefined;
  if (hasAddress(holder) && triesLeft > 0) return await findClient(context, triesLeft - 1);
  throw new CommandError(
    `A gateway without HTTP (${holder.elsewhere === undefined ? `pid ${holder.pid}` : `in another container or machine, ${holder.elsewhere}`}) uses ${context.home}. Stop it, then try again.`,
  );
}

async function whileHeld<T>(client: ApiClient, files: GatewayFiles, action: FilesAction<T>): Promise<T> {
  const end = new AbortController();
  const lost = new AbortController();
  const events = client.stream("/api/files/hold", {}, end.signal)[Symbol.asyncIterator]();
  const first = await events.next();
  if (first.done || first.value.event !== "held")
    throw new CommandError("The gateway did not keep its files still. Is it of the same version as this command?");
  const watching = watch(events, end.signal, lost);
  try {
    const segment = heldSegment.parse(JSON.parse(first.value.data));
    const result = await action({ ...files, segment }, lost.signal, () => end.abort());
    lost.signal.throwIfAborted();
    return result;
  } catch (error) {
    throw lost.signal.aborted ? lost.signal.reason : error;
  } finally {
    end.abort();
    await watching;
  }
}

/** Nothing more comes unless the gateway takes its files back or goes away. */
async function watch(events: AsyncIterator<ServerEvent>, end: AbortSignal, lost: AbortController): Promise<void> {
  let why = "the gateway has stopped";
  try {
    const next = await events.next();
    if (!next.done) why = lostReason.parse(JSON.parse(next.value.data)).error;
  } catch {
    // The connection is gone, or we have ended it ourselves.
  }
  if (!end.aborted) lost.abort(new CommandError(`This was not finished: ${why}. Nothing is lost; try again.`));
}
