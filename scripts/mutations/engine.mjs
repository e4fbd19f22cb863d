// Small wrong turns of the embedded engine.
const root = "src/engine/embedded";
const line = `${root}/journal/line.ts`;
const segment = `${root}/journal/segment.ts`;
const repair = `${root}/journal/repair.ts`;
const knownIds = `${root}/logs/known-ids.ts`;
const seenIds = `${root}/seen/seen-ids.ts`;
const filter = `${root}/seen/filter.ts`;
const format = `${root}/seen/format.ts`;
const lanes = `${root}/lanes/lanes.ts`;
const suspects = `${root}/lanes/suspects.ts`;
const processStart = `${root}/locking/process-start.ts`;
const journalTest = "unit/engine/journal/engine-journal";
const lossTest = "unit/engine/journal/journal-loss";
const knownTest = "unit/engine/engine-known-ids";
const seenTest = "unit/engine/engine-seen";
const contractTest = "unit/engine/engine-contract";

export const mutations = [
  // The journal.
  [line, `|| Number.parseInt(checksum, 16) !== crc32(body)`, ``, journalTest],
  [segment, `synced = Math.max(synced, line.synced);`, `synced = 0;`, journalTest],
  [segment, `line.v > formatVersion`, `line.v > 1000`, journalTest],
  [repair, `const lastTx = Math.max(tx, mark);`, `const lastTx = tx;`, lossTest],
  [repair, `fs.linkSync(path, setAside[index] ?? `, `void (path, setAside[index] ?? `, journalTest],
  // The ids of stored events.
  [knownIds, `event.seq > afterSeq`, `event.seq > 0`, knownTest],
  [knownIds, `isChanged: content !== contentOf(draft)`, `isChanged: false`, knownTest],
  [knownIds, `id === undefined || isNewId(id)`, `id === undefined || !isNewId(id)`, knownTest],
  // The ids of accepted work.
  [seenIds, `if (at > now - rememberedMs) break;`, `break;`, seenTest],
  [seenIds, `seconds !== undefined && seconds * 1000 > now - rememberedMs`, `seconds !== undefined`, seenTest],
  [filter, `=== 0) return false;`, `!== 0) return false;`, seenTest],
  [format, `block.length === blockBytes && `, `block.length === blockBytes || `, seenTest],
  // The lanes.
  [lanes, `this.#running.has(lane.id) || this.#offered.has(lane.id)`, `this.#offered.has(lane.id)`, contractTest],
  [lanes, `    if (waitMs > 0) {`, `    if (waitMs < 0) {`, contractTest],
  [lanes, `failuresOf(item) > consumer.maxAttempts`, `failuresOf(item) > consumer.maxAttempts + 1`, contractTest],
  [lanes, `...target, attempts: item.attempts - 1 }`, `...target, attempts: item.attempts }`, contractTest],
  [suspects, `points: suspicion.points + counts`, `points: suspicion.points`, "unit/engine/engine-suspects"],
  // The lock.
  [
    processStart,
    `fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19]`,
    `fields[19]`,
    "unit/engine/engine-lock",
  ],
];
