import type { StoredEvent } from "../events/event.js";

/** One place in an event where record and second run differ. `undefined`: it is not there. */
export interface FieldDifference {
  /** `payload.content[0].text` */
  readonly path: string;
  readonly recorded: unknown;
  readonly replayed: unknown;
}

/** The first event that is not the same. */
export interface Difference {
  /** From 1, among the turn's events. */
  readonly position: number;
  readonly recorded: StoredEvent | undefined;
  readonly replayed: StoredEvent | undefined;
  readonly fields: readonly FieldDifference[];
}

/** Different each time, or by the config: prices are not in the log, nor who the owners are, nor limits of the model. */
const ignored = new Set(["duration_ms", "queued_ms", "cost_usd", "by", "addresses", "visited", "remark"]);
const ownId = /^(?:evt|msg|turn|exe|out)_[0-9a-f]{20}(?:-n\d+)?(?:#\d+)?$/;
const idFields = new Set(["message_id", "message_ids", "partial_message_id"]);

/**
 * The first difference between a turn's events and those of its second run, in kind, source, cause and payload. Ids
 * count by where they appeared first, times and durations not at all. `seqOffset` is what the second run's sequence
 * numbers lack.
 */
export function firstDifference(
  recorded: readonly StoredEvent[],
  replayed: readonly StoredEvent[],
  seqOffset: number,
): Difference | undefined {
  const left = createNormaliser(0);
  const right = createNormaliser(seqOffset);
  const length = Math.max(recorded.length, replayed.length);
  for (let index = 0; index < length; index += 1) {
    const [a, b] = [recorded[index], replayed[index]];
    const fields = differences("", a && left(a), b && right(b));
    if (fields.length > 0) return { position: index + 1, recorded: a, replayed: b, fields };
  }
  return undefined;
}

/** Makes of each event of one run what is equal in another run of the same turn. */
function createNormaliser(seqOffset: number): (event: StoredEvent) => unknown {
  const aliases = new Map<string, string>();
  const aliasFor = (id: string): string => {
    const [stem = id, ...rest] = id.split("#");
    const alias = aliases.get(stem) ?? `id ${aliases.size + 1}`;
    aliases.set(stem, alias);
    return [alias, ...rest].join("#");
  };
  const eventIds = new Set<string>();
  const normalise = (value: unknown, key: string): unknown => {
    if (typeof value === "string") return ownId.test(value) || idFields.has(key) ? aliasFor(value) : value;
    if (typeof value === "number") return key === "to_seq" ? value + seqOffset : value;
    if (Array.isArray(value)) return value.map((each) => normalise(each, key));
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).filter(([name]) => !ignored.has(name));
    return Object.fromEntries(entries.map(([name, each]) => [name, normalise(each, name)]));
  };
  return ({ event_id, type, source, causation_id, payload }) => {
    eventIds.add(event_id);
    const isOwnCause = causation_id !== undefined && eventIds.has(causation_id);
    const cause = causation_id === undefined ? "none" : isOwnCause ? aliasFor(causation_id) : "before the turn";
    return { type, source, cause, id: aliasFor(event_id), payload: normalise(payload, "payload") };
  };
}

function differences(path: string, recorded: unknown, replayed: unknown): FieldDifference[] {
  if (Object.is(recorded, replayed)) return [];
  if (!isContainer(recorded) || !isContainer(replayed) || Array.isArray(recorded) !== Array.isArray(replayed))
    return [{ path, recorded, replayed }];
  const [a, b] = [new Map(Object.entries(recorded)), new Map(Object.entries(replayed))];
  const below = (name: string): string =>
    Array.isArray(recorded) ? `${path}[${name}]` : path === "" ? name : `${path}.${name}`;
  return [...new Set([...a.keys(), ...b.keys()])].flatMap((name) => differences(below(name), a.get(name), b.get(name)));
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
