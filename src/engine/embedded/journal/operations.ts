import { z } from "zod";
import type { StoredEvent } from "../../../events/event.js";
import type { Work } from "../../engine.js";
import { fromCompact, toCompact } from "./compact.js";

/** The newest journal format that this code reads, and the one it writes. */
export const formatVersion = 2;

// Lines carry a checksum, so these check only what would make later code fail; bodies pass through untouched.
const storedEvent = z.custom<StoredEvent>((value) => isStoredEventShape(value) && isKnownVersion(value));
const work = z.custom<Work>(isWorkShape);
const queue = z.enum(["inbound", "outbound"]);
const text = z.string();
const time = z.number();

/** See `Run` and `Suspicion`. Optional everywhere: earlier versions wrote neither, and read past them. */
const run = z.object({
  quiet: z.boolean().optional(),
  outlived: z.boolean().optional(),
  progressed: z.boolean().optional(),
});
const suspicion = z.object({ limit: z.number(), alone: z.number(), points: z.number(), windowMs: z.number() });

const operation = z.discriminatedUnion("o", [
  z.object({ o: z.literal("event"), event: storedEvent }),
  z.object({
    o: z.literal("work"),
    work,
    at: time,
    attempts: z.number().optional(),
    notBefore: time.optional(),
    delayMs: z.number().optional(),
    run: run.optional(),
    crashes: z.number().optional(),
    suspicion: suspicion.optional(),
  }),
  /**
   * An attempt began, with `run`, or one was given back or ended with its process: `attempts` is the count from now on,
   * `crashes` how many of them a crash has ended.
   */
  z.object({
    o: z.literal("attempt"),
    queue,
    id: text,
    attempts: z.number(),
    run: run.optional(),
    crashes: z.number().optional(),
    suspicion: suspicion.optional(),
  }),
  /** `delayMs` is how far off `notBefore` was when this was written. */
  z.object({
    o: z.literal("retry"),
    queue,
    id: text,
    notBefore: time,
    delayMs: z.number().optional(),
    reason: text,
  }),
  z.object({ o: z.literal("ack"), queue, id: text }),
  z.object({ o: z.literal("bury"), queue, id: text, reason: text, at: time }),
  z.object({ o: z.literal("dead"), work, acceptedAt: time, attempts: z.number(), reason: text, at: time }),
  z.object({ o: z.literal("redrive"), id: text, at: time }),
  z.object({ o: z.literal("drop"), id: text }),
  z.object({ o: z.literal("cursor"), name: text, value: text }),
  z.object({ o: z.literal("put"), kind: text, id: text, value: z.unknown() }),
  z.object({ o: z.literal("remove"), kind: text, id: text }),
  /** Ids of work and of platform deliveries that were accepted before, each with its time. */
  z.object({ o: z.literal("seen"), ids: z.custom<[string, number][]>(isSeenShape) }),
  /** Others are in these files, and from now on in no other. */
  z.object({ o: z.literal("sealed"), files: z.array(z.object({ name: text, count: z.number(), until: time })) }),
  z.object({ o: z.literal("tombstone"), key: text, seq: z.number(), timestamp: time }),
  /** The log of a deleted session is off the disk. */
  z.object({ o: z.literal("gone"), key: text }),
]);

/** One change of the live records. A line of the journal holds all changes of one transaction. */
export type Operation = z.infer<typeof operation>;

const header = z.object({ format: z.literal("maxclaw-journal"), v: z.number(), segment: z.number(), tx: z.number() });
/** What this version writes, and what the first one wrote, with the operations as they are. */
const compact = z.array(z.unknown()).transform((values, context) => {
  const operations = fromCompact(values);
  if (operations !== undefined) return operations;
  context.addIssue({ code: "custom", message: "not what is written" });
  return z.NEVER;
});
const compactOperations = compact.pipe(z.array(operation));
const checkpoint = z.union([
  z.object({ head: compactOperations }).transform(({ head }) => head),
  z.object({ checkpoint: z.array(operation) }).transform((line) => line.checkpoint),
]);
const checkpointEnd = z.object({ checkpointEnd: z.number() });
/** `s` is the offset in this file that was known to be synced when the line was written. */
const place = { tx: z.number(), s: z.number() };
const transaction = z.union([
  z.object({ ...place, c: compactOperations }).transform(({ c, ...rest }) => ({ ...rest, ops: c })),
  z.object({ ...place, ops: z.array(operation) }),
]);

export type JournalLine =
  | ({ readonly kind: "header" } & z.infer<typeof header>)
  | { readonly kind: "checkpoint"; readonly ops: readonly Operation[] }
  | { readonly kind: "checkpointEnd"; readonly lines: number }
  | { readonly kind: "transaction"; readonly tx: number; readonly synced: number; readonly ops: readonly Operation[] };

/** Undefined when the value, though undamaged, is nothing this version knows. */
export function parseJournalLine(value: unknown): JournalLine | undefined {
  const asTransaction = transaction.safeParse(value);
  if (asTransaction.success) {
    const { tx, s, ops } = asTransaction.data;
    return { kind: "transaction", tx, synced: s, ops };
  }
  const asCheckpoint = checkpoint.safeParse(value);
  if (asCheckpoint.success) return { kind: "checkpoint", ops: asCheckpoint.data };
  const asEnd = checkpointEnd.safeParse(value);
  if (asEnd.success) return { kind: "checkpointEnd", lines: asEnd.data.checkpointEnd };
  const asHeader = header.safeParse(value);
  return asHeader.success ? { kind: "header", ...asHeader.data } : undefined;
}

export function encodeHeader(segment: number, tx: number): string {
  return JSON.stringify({ format: "maxclaw-journal", v: formatVersion, segment, tx });
}

export function encodeCheckpoint(operations: readonly Operation[]): string {
  return JSON.stringify({ head: toCompact(operations) });
}

export function encodeCheckpointEnd(lines: number): string {
  return JSON.stringify({ checkpointEnd: lines });
}

export function encodeTransaction(tx: number, synced: number, operations: readonly Operation[]): string {
  return JSON.stringify({ tx, s: synced, c: toCompact(operations) });
}

/** True for what can be in a session log. */
export function isStoredEventShape(value: unknown): value is StoredEvent {
  return (
    isObject(value) &&
    typeof value.type === "string" &&
    typeof value.event_id === "string" &&
    typeof value.session_key === "string" &&
    typeof value.timestamp === "string" &&
    Number.isSafeInteger(value.seq)
  );
}

/** Events of 1.x are read; what a later version means by its events, nobody knows here. */
export function isKnownVersion(event: StoredEvent): boolean {
  // Older than the field itself, or of whatever the file says.
  const version: unknown = event.schema_version;
  return version === undefined || (typeof version === "string" && /^1(\.|$)/.test(version));
}

function isWorkShape(value: unknown): value is Work {
  return (
    isObject(value) &&
    (value.queue === "inbound" || value.queue === "outbound") &&
    typeof value.id === "string" &&
    typeof value.key === "string" &&
    typeof value.sessionKey === "string" &&
    isObject(value.body)
  );
}

/** By hand, because a week may have brought hundreds of thousands of them, and a start reads them all. */
function isSeenShape(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every((entry) => Array.isArray(entry) && typeof entry[0] === "string" && typeof entry[1] === "number")
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
