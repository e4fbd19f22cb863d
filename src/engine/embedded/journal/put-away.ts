import type { Parts } from "../parts.js";

/** Moves everything into the session logs and closes the files: the end of what is done between two gateways. */
export async function putAway({ quiet, maintenance, journal, records }: Parts): Promise<void> {
  quiet.stop();
  await maintenance.compact();
  await journal.close();
  records.seen.close();
}
