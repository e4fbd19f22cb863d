import PQueue from "p-queue";
import type { Engine } from "../../engine/engine.js";
import { messageOf, StorageError } from "../../errors.js";
import type { Logger } from "../../log.js";
import { backoffMs } from "../../util/async/backoff.js";
import { InOrder } from "../../util/async/in-order.js";
import type { ChangedSessions } from "../changed-sessions.js";
import type { SessionRepository, StoredSession } from "../session-repository.js";
import type { StorageMark } from "../storage/mark.js";
import { findUnlisted } from "./unlisted.js";

/** Node has four threads for files: the journal's syncs must find one free. */
const writesAtOnce = 2;
const pauses = { firstMs: 1000, longestMs: 30_000 };

export interface DocumentKeeperPorts {
  readonly repository: SessionRepository;
  readonly mark: StorageMark;
  readonly engine: Pick<Engine, "events" | "lastSequence">;
  readonly changed: ChangedSessions;
  /** Where the session logs are. */
  readonly dir: string;
  readonly log: Logger;
  /** Throws when another process may write the documents too. */
  readonly assertHeld?: (() => void) | undefined;
  /** The session as it is now, read from its log if it is not in memory; undefined when it has no events. */
  readonly read: (key: string) => Promise<StoredSession | undefined>;
}

/** Some document could not be written, or the list not be read. */
interface Trouble {
  readonly since: string;
  readonly why: string;
  /** The storage itself does not answer; else it only refuses some documents. */
  readonly isAway: boolean;
  /** In a row. */
  readonly failures: number;
}

/** What is to be written: the session as it is when its turn comes. Undefined: it is gone, and its document must go too. */
type Take = () => StoredSession | undefined | Promise<StoredSession | undefined>;

/**
 * Keeps the stored documents in step with the sessions. A storage that fails or does not answer holds up nobody: what
 * could not be written is remembered by its key and read from its log again when the storage is back.
 */
export class DocumentKeeper implements AsyncDisposable {
  readonly #ports: DocumentKeeperPorts;
  /** The last write of each session that is under way: a later one waits for it. */
  readonly #writes = new InOrder<string>();
  readonly #room = new PQueue({ concurrency: writesAtOnce });
  readonly #behind = new Set<string>();
  #trouble: Trouble | undefined;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  #catchingUp: Promise<void> | undefined;
  #isCaughtUp = false;
  #isClosing = false;

  constructor(ports: DocumentKeeperPorts) {
    this.#ports = ports;
  }

  /** Resolves once the document is written, or is among those that are tried again. */
  async write(key: string, take: Take): Promise<void> {
    await this.#inTurn(key, () => (this.#trouble?.isAway ? this.#wait(key) : this.#save(key, take)));
  }

  /** Resolves once no write of the session is under way. */
  async settled(key: string): Promise<void> {
    await this.#writes.endOf(key);
  }

  /**
   * Resolves once the lines of all sessions are loaded and documents that a crash left behind are written; at once while
   * the storage is away.
   */
  async caughtUp(): Promise<void> {
    if (this.#trouble?.isAway || this.#isClosing) return;
    this.#catchingUp ??= this.#catchUp().finally(() => {
      if (!this.#isCaughtUp) this.#catchingUp = undefined;
    });
    await this.#catchingUp;
  }

  /** Writes those of these documents that do not show all of their logs, without loading the list of sessions. */
  async freshen(keys: Iterable<string>): Promise<void> {
    for (const key of keys) {
      if (this.#trouble?.isAway) return;
      if (key.startsWith("system:")) continue;
      try {
        await this.#compare(key, await this.#ports.repository.shown(key));
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        this.#behind.add(key);
        await this.#failed(error, true);
      }
    }
  }

  /** Tries what could not be written once more, and waits for all writes. */
  async flush(): Promise<void> {
    await this.#writes.settled();
    if (this.#trouble !== undefined) await this.#tryAgain();
  }

  /** One sentence for people while documents cannot be stored. */
  problem(): string | undefined {
    if (this.#trouble === undefined) return undefined;
    const { since, why } = this.#trouble;
    const named = [...this.#behind].slice(0, 3).join(", ");
    const more = this.#behind.size - 3;
    const waiting =
      this.#behind.size === 0
        ? "the list of sessions may lack some until it is back"
        : `documents that wait to be written: ${named}${more > 0 ? ` and ${more} more` : ""}`;
    return `The session storage (${this.#ports.repository.name}) has failed since ${since}: ${why}. Nothing is lost and chats go on; ${waiting}.`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#timer);
    await this.flush();
    await this.#catchingUp;
  }

  #inTurn(key: string, job: () => Promise<void>): Promise<void> {
    return this.#writes.run(() => this.#room.add(job), key);
  }

  async #save(key: string, take: Take): Promise<void> {
    const { repository, log } = this.#ports;
    let stored: StoredSession | undefined;
    try {
      stored = await take();
      this.#ports.assertHeld?.();
    } catch (error) {
      this.#behind.delete(key);
      return log.warn(`${key} could not be read for its document: ${messageOf(error)}`, { session: key });
    }
    try {
      if (stored === undefined) await repository.remove(key);
      else await repository.save(stored);
      this.#behind.delete(key);
      if (this.#trouble?.isAway) this.#trouble = { ...this.#trouble, isAway: false, failures: 1 };
    } catch (error) {
      const level = this.#behind.has(key) ? "debug" : "error";
      log[level](`The document of ${key} could not be written and is tried again: ${messageOf(error)}`, {
        session: key,
      });
      this.#behind.add(key);
      await this.#failed(error, !(await repository.answers(key)));
    }
  }

  async #wait(key: string): Promise<void> {
    if (this.#behind.has(key)) return;
    this.#behind.add(key);
    this.#ports.log.info(`The document of ${key} waits for the session storage`, { session: key });
  }

  async #failed(error: unknown, isAway: boolean): Promise<void> {
    const { since, failures } = this.#trouble ?? { since: new Date().toISOString(), failures: 0 };
    const isNew = this.#trouble === undefined;
    this.#trouble = { since, why: messageOf(error), isAway, failures: failures + 1 };
    if (isNew) await this.#marked("clear");
    this.#schedule();
  }

  #schedule(): void {
    if (this.#trouble === undefined || this.#timer !== undefined || this.#isClosing) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        void this.#tryAgain();
      },
      backoffMs(this.#trouble.failures, pauses),
    );
    this.#timer.unref();
  }

  /** One round at a time. */
  async #tryAgain(): Promise<void> {
    this.#round ??= this.#retryRound().finally(() => {
      this.#round = undefined;
      this.#schedule();
    });
    await this.#round;
  }

  /** The trouble is over when everything could be done; a storage that is still away is left alone until the next round. */
  async #retryRound(): Promise<void> {
    const { log, repository, read } = this.#ports;
    const waiting = [...this.#behind];
    for (const key of waiting) {
      await this.#inTurn(key, () => this.#save(key, () => read(key)));
      if (this.#trouble?.isAway) return;
    }
    try {
      await repository.load();
    } catch (error) {
      return await this.#failed(error, true);
    }
    if (this.#behind.size > 0) return;
    this.#trouble = undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    log.info(`The session storage (${repository.name}) works again; ${waiting.length} documents were written`);
    if (this.#isCaughtUp) await this.#marked("set");
    else await this.caughtUp();
  }

  /** Never rejects: a storage that is away is tried again, a session that cannot be read is told. */
  async #catchUp(): Promise<void> {
    const { repository, changed, mark, dir, log } = this.#ports;
    try {
      const wasCurrent = await mark.isCurrent();
      if (!wasCurrent) await this.#marked("clear");
      await repository.load();
      const { rows } = repository;
      const elsewhere = await this.#changedElsewhere();
      const unlisted = await findUnlisted(dir, repository, (problem) => log.warn(problem));
      const keys = new Set([...changed.recentSessions(), ...elsewhere, ...unlisted]);
      if (!wasCurrent) for (const key of rows.keys()) keys.add(key);
      for (const key of keys) {
        if (this.#isClosing || this.#trouble?.isAway) return;
        if (!key.startsWith("system:")) await this.#compare(key, rows.get(key));
      }
      this.#isCaughtUp = true;
      // Else it is set when the last of those that wait is written.
      if (this.#behind.size === 0 && !wasCurrent) await this.#marked("set");
    } catch (error) {
      log.error(`The list of sessions could not be read and is tried again: ${messageOf(error)}`);
      if (error instanceof StorageError) await this.#failed(error, true);
    }
  }

  /** Sessions of which other nodes have more, or less, than the list here shows. */
  async #changedElsewhere(): Promise<readonly string[]> {
    const reached = await this.#ports.changed.shared?.lastSequences();
    if (reached === undefined) return [];
    const { rows } = this.#ports.repository;
    const gone = [...rows.keys()].filter((key) => !reached.has(key));
    return [...gone, ...[...reached].flatMap(([key, seq]) => (rows.get(key)?.lastSequence === seq ? [] : [key]))];
  }

  /** Writes the document when it does not show all of the log. */
  async #compare(key: string, line: { readonly lastSequence?: number | undefined } | undefined): Promise<void> {
    const { engine, log, read } = this.#ports;
    try {
      const lastSequence = await engine.lastSequence(key);
      // A deleted session has a last number and no events; what has neither is somebody else's document.
      const isDeleted =
        lastSequence > 0 && (await engine.events(key, { afterSeq: lastSequence - 1, limit: 1 })).events.length === 0;
      if (isDeleted) return line === undefined ? undefined : await this.write(key, () => undefined);
      if (line !== undefined && (line.lastSequence ?? 0) === lastSequence) return;
      if ((await read(key)) !== undefined) await this.write(key, () => read(key));
    } catch (error) {
      log.warn(`${key} could not be read for the list of sessions: ${messageOf(error)}`, { session: key });
    }
  }

  async #marked(to: "set" | "clear"): Promise<void> {
    try {
      await this.#ports.mark[to]();
    } catch (error) {
      this.#ports.log.warn(`The mark of the session storage could not be written: ${messageOf(error)}`);
    }
  }
}
