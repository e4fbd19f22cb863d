import type { DeadLetter, Engine, Work } from "../../engine.js";
import type { Node } from "../node.js";
import { toStoredWork, type WorkRow } from "./work-table.js";

export interface DeadRow extends Omit<WorkRow, "job" | "crashes" | "points"> {
  readonly reason: string;
  readonly buried_at: number;
}

export const deadColumns =
  "id, queue, key, session, dedup, body, accepted_at::float8, attempts, reason, buried_at::float8";

/** What to do with buried work. */
export class DeadLetters implements Readonly<Engine["dead"]> {
  readonly #node: Node;

  constructor(node: Node) {
    this.#node = node;
  }

  async list(): Promise<readonly DeadLetter[]> {
    const rows = await this.#node.database.query<DeadRow>(`SELECT ${deadColumns} FROM @dead ORDER BY position`);
    return rows.map(toDeadLetter);
  }

  async redrive(id: string): Promise<boolean> {
    const { database, work: table, now, lanes, counts } = this.#node;
    const change = counts.begin();
    const acceptedAt = now();
    let work: Work | undefined;
    try {
      work = await database.transaction(async (tx) => {
        const [row] = await tx.query<DeadRow>(`DELETE FROM @dead WHERE id = $1 RETURNING ${deadColumns}`, [id]);
        if (row === undefined) return undefined;
        const { acceptedAt: _acceptedAt, attempts: _attempts, ...again } = toStoredWork(row);
        await table.addAgain(tx, again, acceptedAt);
        return again;
      });
    } finally {
      change.end(work === undefined ? {} : { dead: -1, [work.queue]: 1 });
    }
    if (work === undefined) return false;
    lanes.accepted({ ...work, acceptedAt, attempts: 0 });
    return true;
  }

  async drop(id: string): Promise<boolean> {
    const { database, counts } = this.#node;
    const change = counts.begin();
    let dropped = 0;
    try {
      dropped = (await database.write("DELETE FROM @dead WHERE id = $1 RETURNING 1", [id])).length;
    } finally {
      change.end({ dead: -dropped });
    }
    return dropped > 0;
  }
}

export function toDeadLetter(row: DeadRow): DeadLetter {
  return { work: toStoredWork(row), reason: row.reason, buriedAt: row.buried_at };
}
