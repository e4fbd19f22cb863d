import { existsSync } from "node:fs";
import { channelOf } from "../../events/session-key.js";
import { harmless, printNote } from "../text/output.js";
import { nothingYet, withClient } from "./with-client.js";

interface SessionsWanted {
  readonly channel: string | undefined;
  readonly limit: number;
  /** Not for people. */
  readonly isJson: boolean;
}

/** The list of conversations: of the gateway that runs, else from the files, without starting one for it. */
export async function readSessions(version: string, wanted: SessionsWanted): Promise<unknown> {
  const { channel, limit } = wanted;
  const query = new URLSearchParams({ limit: String(limit), ...(channel === undefined ? {} : { channel }) });
  const stored = await readStored(wanted);
  return stored ?? (await withClient(version, "look", (client) => client.get(`/api/sessions?${query}`)));
}

/** Undefined where only a gateway can tell, or one holds the files. */
async function readStored({ channel, limit, isJson }: SessionsWanted): Promise<unknown> {
  const [{ openContext }, { holderOf }] = await Promise.all([
    import("../context.js"),
    import("../../offline/running-gateway.js"),
  ]);
  const { home, loaded } = await openContext();
  const { agents, storage } = loaded.config;
  if (storage.driver !== "file" || (await holderOf(home)) !== undefined) return undefined;
  if (!existsSync(home)) printNote(nothingYet(home));
  const { listStoredSessions } = await import("../../offline/sessions/session-list.js");
  const isWanted = channel === undefined ? undefined : (key: string): boolean => channelOf(key) === channel;
  const found = await listStoredSessions(
    { home, workspace: agents.defaults.workspace },
    { limit, isWanted, isUnreadCounted: isJson },
    new AbortController().signal,
  );
  if (found === undefined) return undefined;
  const { problems, ...page } = found;
  for (const problem of problems) printNote(`maxclaw: ${harmless(problem)} The list may lack what is damaged.`);
  return page;
}
