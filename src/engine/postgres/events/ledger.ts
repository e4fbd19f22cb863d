import type { LedgerEntry } from "../../engine.js";
import { MessageEnds } from "../../message-ends.js";
import type { Database } from "../sql/database.js";
import { readEvents } from "./event-table.js";

/** The types by which a message begins and ends, as the index has them. */
const types = [
  "user_message_queued",
  "turn_execution_complete",
  "turn_execution_failed",
  "turn_execution_cancelled",
  "error_occurred",
  "outbound_delivery_changed",
];
const ofLedger = `type IN (${types.map((type) => `'${type}'`).join(", ")})`;

/** How each accepted message ended. Work goes on meanwhile: what looks lost is looked up once more. */
export async function readLedger(database: Database): Promise<readonly LedgerEntry[]> {
  const ends = new MessageEnds();
  let entries: LedgerEntry[] = [];
  for (let pass = 1; pass <= 2; pass += 1) {
    for await (const event of readEvents(database, ofLedger)) ends.note(event, pass);
    const ids = async (sql: string): Promise<ReadonlySet<string>> =>
      new Set((await database.query<{ id: string }>(sql)).map(({ id }) => id));
    const waiting = await ids("SELECT id FROM @work WHERE queue = 'inbound'");
    const dead = await ids("SELECT id FROM @dead");
    const sessions = await database.query<{ key: string; deleted: number }>(
      "SELECT key, deleted::float8 FROM @sessions WHERE deleted > 0",
    );
    const deleted = new Map(sessions.map(({ key, deleted: seq }) => [key, seq]));
    const lookup = {
      deletedSeq: (key: string) => deleted.get(key) ?? 0,
      isWaiting: (id: string) => waiting.has(id),
      isDead: (id: string) => dead.has(id),
    };
    const isTooNew = (found: number): boolean => pass > 1 && found === pass;
    entries = ends
      .entries(lookup)
      .flatMap(({ entry, pass: found }) => (entry.end === "lost" && isTooNew(found) ? [] : [entry]));
    if (entries.every(({ end }) => end !== "lost")) break;
  }
  return entries;
}
