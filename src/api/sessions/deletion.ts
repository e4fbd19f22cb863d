import type { RunningTurns } from "../../agent/turn/running-turns.js";
import type { Channel } from "../../channels/channel.js";
import type { Engine } from "../../engine/engine.js";
import { draft } from "../../events/event.js";
import { channelOf, chatOf, isBelow } from "../../events/session-key.js";
import type { Grants } from "../../policy/grants.js";
import type { Scheduler } from "../../schedule/scheduler.js";
import type { SessionStore } from "../../sessions/session-store.js";
import { assertSession } from "./assert-session.js";
import { endOfTurn } from "./end-of-turn.js";

export interface DeletionPorts {
  readonly engine: Pick<Engine, "publish">;
  readonly sessions: Pick<SessionStore, "exists" | "open" | "list" | "delete">;
  readonly running: Pick<RunningTurns, "stop" | "ended">;
  readonly tasks: { forget(sessionKey: string): Promise<void> };
  readonly scheduler: () => Promise<Scheduler>;
  readonly grants: Pick<Grants, "forget">;
  readonly channels: ReadonlyMap<string, Pick<Channel, "forget">>;
}

/** Deletes a session with all that belongs to it: its tasks, its jobs, its sub-agents' sessions, what its channel keeps. */
export async function deleteSession(ports: DeletionPorts, key: string): Promise<void> {
  const { sessions, tasks } = ports;
  await assertSession(sessions, key);
  // Nothing that they still bring back may begin a new life of the session.
  await tasks.forget(key);
  await removeJobs(await ports.scheduler(), key);
  await deleteOne(ports, key);
  const children = (await sessions.list()).filter((each) => isBelow(each.key, key));
  for (const child of children) await deleteOne(ports, child.key);
  await forgetChat(ports.channels, key);
}

async function removeJobs(scheduler: Scheduler, key: string): Promise<void> {
  for (const { id, owner } of scheduler.all()) if (owner.sessionKey === key) await scheduler.remove(id);
}

async function deleteOne({ engine, sessions, running, grants }: DeletionPorts, key: string): Promise<void> {
  running.stop(key, "stop");
  // Its last commit tells everyone who waits for the turn; a tool that does not let go is fenced by the deletion.
  await endOfTurn(running, key);
  // Before the session: a crash in between must leave none behind that nobody could delete any more.
  await grants.forget(key);
  // Also one that cannot be read any more can be deleted.
  const state = await sessions.open(key).then(
    ({ document }) => document.state,
    () => "error",
  );
  await sessions.delete(key);
  // Not stored, for there is no log any more: for those who look at the session or wait for one of its messages.
  const deleted = { from: state, to: "deleted", reason: "client" };
  engine.publish(key, draft("session_state_changed", deleted, { source: "client" }));
}

async function forgetChat(channels: DeletionPorts["channels"], key: string): Promise<void> {
  const [chatId = "", ...thread] = chatOf(key).split(":");
  await channels.get(channelOf(key))?.forget?.(chatId, thread.length === 0 ? undefined : thread.join(":"));
}
