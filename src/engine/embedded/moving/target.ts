import * as fs from "node:fs";
import { open } from "node:fs/promises";
import type { StoredEvent } from "../../../events/event.js";
import { isMissing } from "../../../util/error-code.js";
import { makeFolderSync } from "../../../util/files/make-folder.js";
import type { EngineTarget, MovedSession, MovedState, SeenHash } from "../../moving.js";
import { claimHomeFormat, raiseHomeFormat, thinnedFormat } from "../home-format.js";
import { encodeLine } from "../journal/line.js";
import { createSegment } from "../journal/load.js";
import type { Operation } from "../journal/operations.js";
import { journalFolder } from "../journal/segment.js";
import { leaseKind } from "../leases.js";
import { stoppedRun } from "../run-note.js";
import { seenFolder } from "../seen/format.js";
import { type SealEntry, sealEntries } from "../seen/seal.js";
import { rememberedMs } from "../seen/seen-ids.js";
import { LiveRecords } from "../state.js";
import { readWholeLog } from "./read-log.js";

export interface EmbeddedTargetOptions {
  /** Holds no journal. */
  readonly home: string;
  readonly logPathOf: (key: string) => string;
  /** Every session log there is. */
  readonly sessions: () => readonly { readonly key: string; readonly path: string }[];
}

/** The files of a home that the caller has locked. Its journal is written last, and without it there is no engine. */
export class EmbeddedTarget implements EngineTarget {
  readonly #options: EmbeddedTargetOptions;
  readonly #tombstones: Operation[] = [];
  #isThinned = false;

  constructor(options: EmbeddedTargetOptions) {
    this.#options = options;
  }

  async write({ key, deleted, events }: MovedSession): Promise<void> {
    if (deleted !== undefined)
      this.#tombstones.push(
        { o: "tombstone", key, seq: deleted.seq, timestamp: deleted.time },
        // There is no log of what was deleted.
        { o: "gone", key },
      );
    const path = this.#options.logPathOf(key);
    const file = await open(path, "w", 0o600);
    let seq = deleted?.seq ?? 0;
    let isEmpty = true;
    try {
      for await (const page of events()) {
        isEmpty = false;
        for (const event of page) {
          this.#isThinned ||= event.seq > seq + 1;
          seq = event.seq;
        }
        await file.write(Buffer.concat(page.map((event) => encodeLine(JSON.stringify(event)))));
      }
      await file.sync();
    } finally {
      await file.close();
    }
    if (isEmpty) fs.rmSync(path);
  }

  async remove(key: string): Promise<void> {
    fs.rmSync(this.#options.logPathOf(key), { force: true });
  }

  async *read(key: string): AsyncIterable<readonly StoredEvent[]> {
    try {
      yield* readWholeLog(this.#options.logPathOf(key), key);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }

  async keys(): Promise<readonly string[]> {
    return this.#options.sessions().map(({ key }) => key);
  }

  async finish(state: MovedState, seen: AsyncIterable<readonly SeenHash[]>): Promise<void> {
    const { home } = this.#options;
    const folder = journalFolder(home);
    fs.rmSync(folder, { recursive: true, force: true });
    makeFolderSync(folder);
    const records = new LiveRecords();
    const operations = [...operationsOf(state), ...this.#tombstones, ...(await sealed(folder, seen))];
    for (const operation of operations) records.apply(operation, { isDurable: true, bytes: 0, position: 0 });
    claimHomeFormat(home);
    if (this.#isThinned) raiseHomeFormat(home, thinnedFormat);
    await createSegment(folder, 1, 0, records);
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

function operationsOf({ cursors, records, leases, work, dead }: MovedState): readonly Operation[] {
  return [
    ...cursors.map((cursor): Operation => ({ o: "cursor", ...cursor })),
    ...records.map((record): Operation => ({ o: "put", ...record })),
    ...leases.map(({ name, epoch }): Operation => ({ o: "put", kind: leaseKind, id: name, value: { epoch } })),
    { o: "put", ...stoppedRun },
    ...work.map(
      ({ work: { acceptedAt, attempts, ...piece }, crashes }): Operation => ({
        ...{ o: "work", work: piece, at: acceptedAt, attempts, crashes },
      }),
    ),
    ...dead.map(({ work: { acceptedAt, attempts, ...piece }, reason, buriedAt }): Operation => {
      return { o: "dead", work: piece, acceptedAt, attempts, reason, at: buriedAt };
    }),
  ];
}

async function sealed(folder: string, seen: AsyncIterable<readonly SeenHash[]>): Promise<readonly Operation[]> {
  const entries: SealEntry[] = [];
  const oldest = Date.now() - rememberedMs;
  for await (const page of seen)
    for (const { hash, at } of page)
      if (at > oldest) entries.push({ hash: Buffer.from(hash, "hex"), seconds: Math.ceil(at / 1000) });
  const info = await sealEntries(seenFolder(folder), 1, entries);
  return info === undefined ? [] : [{ o: "sealed", files: [info] }];
}
