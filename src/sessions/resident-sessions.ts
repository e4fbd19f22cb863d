import type { MutableSession } from "./resident-session.js";

const defaultCount = 1000;
const defaultBytes = 16 * 1024 * 1024;
/** Anyone who has just used a session may use it again at once. */
const restMs = 5000;
/** Of what may stay, so much does when some have to go: to look through all of them with each message takes longer than to let some go. */
const staying = 63 / 64;

export interface MemoryLimits {
  /** Sessions at rest leave memory beyond this number. Default 1000. */
  readonly maxSessions?: number | undefined;
  /** And beyond so many bytes, by estimate. Default 16 MB. */
  readonly maxBytes?: number | undefined;
}

interface Resident {
  readonly session: MutableSession;
  readonly ready: Promise<void>;
}

/** The sessions in memory. Those at rest leave it beyond a number of them and of bytes, the longest unused first. */
export class ResidentSessions {
  readonly #sessions = new Map<string, Resident>();
  readonly #maxCount: number;
  readonly #maxBytes: number;

  constructor({ maxSessions = defaultCount, maxBytes = defaultBytes }: MemoryLimits = {}) {
    this.#maxCount = maxSessions;
    this.#maxBytes = maxBytes;
  }

  find(key: string): Resident | undefined {
    return this.#sessions.get(key);
  }

  add(resident: Resident): void {
    this.#sessions.set(resident.session.key, resident);
  }

  delete(key: string): void {
    this.#sessions.delete(key);
  }

  clear(): void {
    this.#sessions.clear();
  }

  *all(): Iterable<MutableSession> {
    for (const { session } of this.#sessions.values()) yield session;
  }

  /** The session as it is in memory, if it is and has events. */
  present(key: string): MutableSession | undefined {
    const session = this.#sessions.get(key)?.session;
    const isPresent = session !== undefined && session.early === undefined && session.document.lastSequence > 0;
    return isPresent ? session : undefined;
  }

  /** Takes those out of memory that are too many, and gives them. */
  evict(): readonly MutableSession[] {
    let bytes = 0;
    for (const { session } of this.#sessions.values()) bytes += session.bytes;
    let count = this.#sessions.size;
    if (count <= this.#maxCount && bytes <= this.#maxBytes) return [];
    const gone: MutableSession[] = [];
    for (const session of [...this.all()].filter(isAtRest).sort((a, b) => a.usedAt - b.usedAt)) {
      if (count <= Math.ceil(this.#maxCount * staying) && bytes <= this.#maxBytes * staying) break;
      this.#sessions.delete(session.key);
      gone.push(session);
      count -= 1;
      bytes -= session.bytes;
    }
    return gone;
  }
}

function isAtRest({ early, openTurn, usedAt }: MutableSession): boolean {
  return early === undefined && openTurn.length === 0 && Date.now() - usedAt > restMs;
}
