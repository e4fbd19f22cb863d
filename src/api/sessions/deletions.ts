import { z } from "zod";
import type { Channel } from "../../channels/channel.js";
import type { Engine, Records } from "../../engine/engine.js";
import { messageOf } from "../../errors.js";
import { draft } from "../../events/event.js";
import { channelOf, chatOf, isBelow } from "../../events/session-key.js";
import type { SessionLives } from "../../events/session-lives.js";
import type { Logger } from "../../log.js";
import type { Grants } from "../../policy/grants.js";
import type { SessionStore } from "../../sessions/session-store.js";

export interface DeletionPorts {
  readonly engine: Pick<Engine, "announce" | "events" | "lastSequence">;
  /** Notes of deletions that have begun. */
  readonly begun: Pick<Records, "list" | "put" | "delete">;
  readonly sessions: Pick<SessionStore, "open" | "keys" | "exists" | "delete">;
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

/** Up to where the log of the session reached that is to be deleted: what begins above is a new life. */
const note = z.object({ seq: z.number() });

/**
 * Deletes sessions with those below them and all that is kept of them elsewhere. A deletion is noted before it begins, so
 * that the next start does what a kill has cut off. The session itself goes after those below it: when that fails it is
 * still there, to be deleted again.
 */
export class Deletions {
  readonly #ports: DeletionPorts;
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(ports: DeletionPorts) {
    this.#ports = ports;
  }

  /** Resolves once nothing of it is left, except for what the journal gives up a moment later. */
  async delete(key: string): Promise<void> {
    await this.#once(key, () => this.#note(key));
  }

  /** Does what an earlier process has left half done. From the call on, what arrives for these sessions waits for it. */
  async resume(): Promise<void> {
    const { begun, log } = this.#ports;
    const left = begun.list();
    const resumed = left.map(async ({ id: key, value }) => {
      const { seq = 0 } = note.safeParse(value).data ?? {};
      try {
        await this.#once(key, () => this.#note(key, seq));
      } catch (error) {
        log.error(`Finishing the deletion of ${key} failed: ${messageOf(error)}`, { session: key });
      }
    });
    await Promise.all(resumed);
  }

  async #once(key: string, begin: () => Promise<void>): Promise<void> {
    const deleting = this.#underWay.get(key) ?? begin().finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, deleting);
    await deleting;
  }

  /** `upTo`: only the life whose log begins there or before, or what is left of it. */
  async #note(key: string, upTo?: number): Promise<void> {
    const { engine, begun: noted, lives, sessions } = this.#ports;
    const deleted = await lives.end(key, letGoMs, async (late) => {
      void late?.then(() => this.#removeLate(key));
      if (upTo !== undefined && (await this.#beginsAbove(key, upTo))) {
        await noted.delete(key);
        return new Map<string, string>();
      }
      await noted.put(key, { seq: await engine.lastSequence(key) });
      try {
        const gone = await this.#remove(key);
        await noted.delete(key);
        return gone;
      } catch (error) {
        // Still there, it can be deleted again; else the next start does what is left to do.
        if (await sessions.exists(key)) await noted.delete(key).catch(() => undefined);
        throw error;
      }
    });
    for (const [gone, from] of deleted) await this.#announce(gone, from);
  }

  async #beginsAbove(key: string, seq: number): Promise<boolean> {
    const [first] = (await this.#ports.engine.events(key, { afterSeq: 0, limit: 1 })).events;
    return first !== undefined && first.seq > seq;
  }

  /** What did not let go in time has ended now. It may have left files, unless a new life has begun: then they are its. */
  async #removeLate(key: string): Promise<void> {
    const { lives, sessions, log } = this.#ports;
    try {
      await lives.end(key, 0, async () => {
        if (!(await sessions.exists(key))) await this.#remove(key);
      });
    } catch (error) {
      log.warn(`Some data of the deleted ${key} may be left: ${messageOf(error)}`, { session: key });
    }
  }

  /** What was deleted, with the state in which it was. */
  async #remove(key: string): Promise<ReadonlyMap<string, string>> {
    const { tasks, sessions, channels, grants, lives } = this.#ports;
    const below = await sessions.keys((each) => isBelow(each, key));
    const deleted = new Map<string, string>();
    for (const each of [...below, key]) deleted.set(each, await this.#removeOne(each));
    await tasks.forget(key);
    const [chatId = "", ...thread] = chatOf(key).split(":");
    await channels.get(channelOf(key))?.forget?.(chatId, thread.length === 0 ? undefined : thread.join(":"));
    for (const each of deleted.keys()) {
      await grants.forget(each);
      await lives.leave(each, leaveMs);
    }
    return deleted;
  }

  async #removeOne(key: string): Promise<string> {
    const { sessions, lives } = this.#ports;
    await lives.close(key, leaveMs);
    // Also one that cannot be read any more can be deleted.
    const state = await sessions.open(key).then(
      ({ document }) => document.state,
      () => "error",
    );
    await sessions.delete(key);
    return state;
  }

  /** Not stored, because there is no log any more: for those who look at the session or wait for one of its messages. */
  async #announce(key: string, from: string): Promise<void> {
    const deleted = { from, to: "deleted", reason: "client" };
    await this.#ports.engine.announce(key, draft("session_state_changed", deleted, { source: "client" }));
  }
}
