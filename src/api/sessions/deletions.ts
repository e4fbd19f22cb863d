import type { Channel } from "../../channels/channel.js";
import type { Engine } from "../../engine/engine.js";
import { messageOf } from "../../errors.js";
import { draft } from "../../events/event.js";
import { channelOf, chatOf, isBelow } from "../../events/session-key.js";
import type { SessionLives } from "../../events/session-lives.js";
import type { Logger } from "../../log.js";
import type { Grants } from "../../policy/grants.js";
import type { SessionStore } from "../../sessions/session-store.js";

export interface DeletionPorts {
  readonly engine: Pick<Engine, "publish" | "records">;
  readonly sessions: Pick<SessionStore, "open" | "list" | "exists" | "delete">;
  readonly lives: SessionLives;
  readonly tasks: { forget(sessionKey: string): Promise<void> };
  readonly grants: Pick<Grants, "forget">;
  readonly channels: ReadonlyMap<string, Pick<Channel, "forget">>;
  readonly log: Logger;
}

/** So long a deletion waits for turns, sends and whatever else goes on in the session to let go. */
const letGoMs = 2000;
/** And for what is kept elsewhere of a session to be taken away. */
const leaveMs = 5000;

/**
 * Deletes sessions with those below them and all that is kept of them elsewhere. A deletion is noted before it begins, so
 * that the next start does one that a kill has cut off. The session itself goes last: what fails before leaves it there, to
 * be deleted again.
 */
export class Deletions {
  readonly #ports: DeletionPorts;
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(ports: DeletionPorts) {
    this.#ports = ports;
  }

  /** Resolves once nothing of it is left, but for what the journal gives up a moment later. */
  async delete(key: string): Promise<void> {
    const deleting = this.#underWay.get(key) ?? this.#note(key).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, deleting);
    await deleting;
  }

  /** Begins with what an earlier process has left half done; what arrives for these sessions waits meanwhile. */
  async resume(): Promise<void> {
    const { engine, log } = this.#ports;
    for (const { id: key } of engine.records("deletion").list())
      await this.delete(key).catch((error: unknown) =>
        log.error(`The deletion of ${key}, which was cut off, failed. Delete it again: ${messageOf(error)}`),
      );
  }

  /** A message that arrives after a deletion is of a new life: the note must not outlive the deletion, however it ends. */
  async #note(key: string): Promise<void> {
    const noted = this.#ports.engine.records("deletion");
    const isNew = noted.get(key) === undefined;
    const deleted = await this.#ports.lives.end(key, letGoMs, async (late) => {
      if (isNew) await noted.put(key, {});
      try {
        return await this.#remove(key);
      } finally {
        await noted.delete(key);
        void late?.then(() => this.#removeLate(key));
      }
    });
    for (const [gone, from] of deleted) this.#tell(gone, from);
  }

  /** What did not let go in time has ended now. It may have left files, unless a new life has begun: then they are its. */
  async #removeLate(key: string): Promise<void> {
    const { lives, sessions, log } = this.#ports;
    try {
      await lives.end(key, 0, async () => {
        if (!(await sessions.exists(key))) await this.#remove(key);
      });
    } catch (error) {
      log.warn(`Something of the deleted ${key} may be left: ${messageOf(error)}`, { session: key });
    }
  }

  /** What was deleted, with the state in which it was. */
  async #remove(key: string): Promise<ReadonlyMap<string, string>> {
    const { tasks, sessions, channels } = this.#ports;
    // Nothing that they still bring back may begin a new life of the session.
    await tasks.forget(key);
    const below = (await sessions.list()).flatMap((each) => (isBelow(each.key, key) ? [each.key] : []));
    const deleted = new Map<string, string>();
    for (const child of below) deleted.set(child, await this.#removeOne(child));
    const [chatId = "", ...thread] = chatOf(key).split(":");
    await channels.get(channelOf(key))?.forget?.(chatId, thread.length === 0 ? undefined : thread.join(":"));
    return deleted.set(key, await this.#removeOne(key));
  }

  async #removeOne(key: string): Promise<string> {
    const { grants, sessions, lives } = this.#ports;
    await grants.forget(key);
    await lives.leave(key, leaveMs);
    // Also one that cannot be read any more can be deleted.
    const state = await sessions.open(key).then(
      ({ document }) => document.state,
      () => "error",
    );
    await sessions.delete(key);
    return state;
  }

  /** Not stored, for there is no log any more: for those who look at the session or wait for one of its messages. */
  #tell(key: string, from: string): void {
    const deleted = { from, to: "deleted", reason: "client" };
    this.#ports.engine.publish(key, draft("session_state_changed", deleted, { source: "client" }));
  }
}
