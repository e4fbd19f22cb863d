import type { Logger } from "../../../log.js";
import type { EngineSource, MovedSession, MovedState, SeenHash } from "../../moving.js";
import { hashBytes, hashOf } from "../../seen-hash.js";
import { readRecords } from "../inspect/ledger.js";
import { journalFolder } from "../journal/segment.js";
import { leaseKind, leaseRecord } from "../leases.js";
import { openEmbeddedEngine } from "../open.js";
import type { LogOptions } from "../options.js";
import { isAllThere, readBootId, runKind } from "../run-note.js";
import { blockBytes, entryAt, seenFolder } from "../seen/format.js";
import { SealedFile } from "../seen/sealed-file.js";
import type { LiveRecords } from "../state.js";
import { readWholeLog } from "./read-log.js";

const hashesAtOnce = 1000;

export interface EmbeddedSourceOptions {
  readonly home: string;
  readonly logs: LogOptions;
  /** Every session log there is. */
  readonly sessions: () => readonly { readonly key: string; readonly path: string }[];
  readonly log: Logger;
}

/** The engine of a home that the caller has locked. */
export class EmbeddedSource implements EngineSource {
  readonly #options: EmbeddedSourceOptions;
  readonly #records: LiveRecords;
  /** A power cut may have taken what was stored of replies on their way. */
  readonly #isUnclear: boolean;

  private constructor(options: EmbeddedSourceOptions, records: LiveRecords, isUnclear: boolean) {
    this.#options = options;
    this.#records = records;
    this.#isUnclear = isUnclear;
  }

  /**
   * Brings everything into the session logs first, as an orderly stop does.
   *
   * @throws {EngineError} as when the engine is opened for work
   */
  static async open(options: EmbeddedSourceOptions): Promise<EmbeddedSource> {
    const { home, logs, log } = options;
    const isUnclear = !isAllThere(readRecords(home), readBootId());
    const engine = await openEmbeddedEngine({ home, logs, log, publish: () => {}, instanceId: "gw_moving" });
    try {
      await engine.flush();
    } finally {
      await engine[Symbol.asyncDispose]();
    }
    return new EmbeddedSource(options, readRecords(home), isUnclear);
  }

  async *sessions(): AsyncIterable<MovedSession> {
    const { tombstones } = this.#records.sessions;
    const keys = new Set<string>();
    for (const { key, path } of this.#options.sessions()) {
      keys.add(key);
      yield this.#session(key, path);
    }
    for (const key of tombstones.keys()) if (!keys.has(key)) yield this.#session(key, undefined);
  }

  async state(): Promise<MovedState> {
    const { cursors, facts, work } = this.#records;
    const kinds = [...facts].filter(([kind]) => kind !== runKind && kind !== leaseKind);
    const isDoubtful = (queue: string, attempts: number): boolean =>
      this.#isUnclear && queue === "outbound" && attempts === 0;
    return {
      cursors: [...cursors].map(([name, value]) => ({ name, value })),
      records: kinds.flatMap(([kind, ofKind]) => [...ofKind].map(([id, value]) => ({ kind, id, value }))),
      leases: [...(facts.get(leaseKind) ?? [])].flatMap(([name, value]) => {
        const lease = leaseRecord.safeParse(value).data;
        return lease === undefined ? [] : [{ name, epoch: lease.epoch }];
      }),
      work: [...work.all()].map(({ work: piece, acceptedAt, attempts, crashes }) => ({
        work: { ...piece, acceptedAt, attempts: isDoubtful(piece.queue, attempts) ? 1 : attempts },
        crashes,
      })),
      dead: [...work.dead.values()],
    };
  }

  async *seen(): AsyncIterable<readonly SeenHash[]> {
    const { seen } = this.#records;
    let page: SeenHash[] = [];
    for (const [id, at] of seen.recent) {
      page.push({ hash: hashOf(id).toString("hex"), at });
      if (page.length < hashesAtOnce) continue;
      yield page;
      page = [];
    }
    yield page;
    const folder = seenFolder(journalFolder(this.#options.home));
    for (const info of seen.files) {
      const file = SealedFile.open(folder, info, (message) => this.#options.log.warn(message));
      try {
        for (let block = 0; block < file.blocks; block += 1) yield hashesIn(file, block);
      } finally {
        file.close();
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #session(key: string, path: string | undefined): MovedSession {
    const tombstone = this.#records.sessions.tombstones.get(key);
    return {
      key,
      deleted: tombstone && { seq: tombstone.seq, time: tombstone.timestamp },
      async *events() {
        if (path === undefined) return;
        for await (const page of readWholeLog(path, key)) {
          // The log of a deleted session may still be there.
          const living = page.filter(({ seq }) => seq > (tombstone?.seq ?? 0));
          if (living.length > 0) yield living;
        }
      },
    };
  }
}

function hashesIn(file: SealedFile, block: number): readonly SeenHash[] {
  const bytes = Buffer.alloc(blockBytes);
  const count = file.readBlock(block, bytes) ?? 0;
  return Array.from({ length: count }, (_, index) => {
    const start = entryAt(index);
    const at = bytes.readUInt32BE(start + hashBytes) * 1000;
    return { hash: bytes.toString("hex", start, start + hashBytes), at };
  });
}
