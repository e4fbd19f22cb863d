import type { StoredEvent } from "../../../events/event.js";

/** A text of at least this length occurs once in a line; where it comes again, its number is there instead. */
const leastLength = 6;
const mark = "~";
const eventKind = "e";
const radix = 36;

/** The fields of an event as the gateway writes them, in their order. */
const envelope: readonly Field<Exclude<keyof StoredEvent, "schema_version" | "metadata">>[] = [
  { name: "event_id" },
  { name: "type" },
  { name: "session_key" },
  { name: "seq" },
  { name: "timestamp" },
  { name: "source" },
  { name: "turn_id", isOptional: true },
  { name: "correlation_id", isOptional: true },
  { name: "causation_id", isOptional: true },
  { name: "payload" },
];
const inMetadata: readonly Field<keyof StoredEvent["metadata"]>[] = [
  { name: "instance_id" },
  { name: "agent_id", isOptional: true },
];
const version = "1.0";
/** Instead of an optional field that is not there. */
const nothing = 0;

/** An operation; `event` where it is one that stores an event. */
interface Written {
  readonly o: string;
  readonly event?: StoredEvent;
}

interface Field<K extends string = string> {
  readonly name: K;
  readonly isOptional?: true;
}

/** What is read is nothing that was written here. */
class NotCompact extends Error {}

/**
 * Operations as they are written: an event is a list of its values, since the names of its fields would take more room
 * than they do, and each longer text occurs once. `fromCompact` gives the same operations, field by field in their order.
 */
export function toCompact(operations: readonly Written[]): readonly unknown[] {
  const texts = new Map<string, string>();
  return operations.map((operation) => {
    const { event } = operation;
    return event === undefined || !isPlain(event) ? shorten(operation, texts) : valuesOf(event, texts);
  });
}

/** Without keys(), entries() and fromEntries(): every event comes this way, and they would make arrays for each of its objects. */
function shorten(value: unknown, texts: Map<string, string>): unknown {
  if (typeof value === "string") return shortText(value, texts);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((inner) => shorten(inner, texts));
  if ("toJSON" in value && typeof value.toJSON === "function") return shorten(value.toJSON(), texts);
  const short: Record<string, unknown> = {};
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    // One of its own keys.
    const inner = shorten((value as Readonly<Record<string, unknown>>)[key], texts);
    if (key !== "__proto__") short[key] = inner;
    else Object.defineProperty(short, key, { value: inner, enumerable: true });
  }
  return short;
}

function valuesOf(event: StoredEvent, texts: Map<string, string>): readonly unknown[] {
  const values: unknown[] = [eventKind];
  for (const { name } of envelope) values.push(shorten(event[name] ?? nothing, texts));
  for (const { name } of inMetadata) values.push(shorten(event.metadata[name] ?? nothing, texts));
  return values;
}

/** Undefined when it is nothing that `toCompact` has made. */
export function fromCompact(values: readonly unknown[]): readonly unknown[] | undefined {
  const texts: string[] = [];
  const restore = (value: unknown): unknown => {
    if (typeof value === "string") return longText(value, texts);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(restore);
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, restore(inner)]));
  };
  try {
    return values.map((value) => {
      if (!Array.isArray(value)) return restore(value);
      const [kind, ...event] = value;
      if (kind !== eventKind) throw new NotCompact("No such operation");
      return { o: "event", event: toEvent(event.map(restore)) };
    });
  } catch (error) {
    if (error instanceof NotCompact) return undefined;
    throw error;
  }
}

function shortText(text: string, texts: Map<string, string>): string {
  if (text.length >= leastLength) {
    const known = texts.get(text);
    if (known !== undefined) return known;
    texts.set(text, `${mark}${texts.size.toString(radix)}`);
  }
  return text.startsWith(mark) ? `${mark}${text}` : text;
}

function longText(text: string, texts: string[]): string {
  if (text.startsWith(mark) && text[1] !== mark) {
    const known = texts[Number.parseInt(text.slice(1), radix)];
    if (known === undefined) throw new NotCompact("A text that is not there");
    return known;
  }
  const long = text.startsWith(mark) ? text.slice(1) : text;
  if (long.length >= leastLength) texts.push(long);
  return long;
}

/** False for an event that has other fields, or has them in another order. */
function isPlain(event: StoredEvent): boolean {
  return event.schema_version === version && hasOnly(event, envelope) && hasOnly(event.metadata, inMetadata);
}

function hasOnly<K extends string>(value: Readonly<Partial<Record<K, unknown>>>, fields: readonly Field<K>[]): boolean {
  let next = 0;
  for (const key in value) {
    if (key === "schema_version" || key === "metadata" || !Object.hasOwn(value, key)) continue;
    let field = fields[next];
    while (field?.isOptional === true && field.name !== key) field = fields[++next];
    if (field?.name !== key || (value[field.name] ?? nothing) === nothing) return false;
    next += 1;
  }
  while (fields[next]?.isOptional === true) next += 1;
  return next === fields.length;
}

function toEvent(values: readonly unknown[]): object {
  if (values.length !== envelope.length + inMetadata.length) throw new NotCompact("Not the values of an event");
  return {
    schema_version: version,
    ...named(envelope, values.slice(0, envelope.length)),
    metadata: named(inMetadata, values.slice(envelope.length)),
  };
}

function named(fields: readonly Field[], values: readonly unknown[]): object {
  const entries = fields.map(({ name }, index) => [name, values[index]] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== nothing));
}
