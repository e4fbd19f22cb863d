import { z } from "zod";
import type { StoredEvent } from "../../../events/event.js";
import { droppedBefore } from "../../left-out.js";

/** Sequence numbers of a session, both ends included. */
export const seqRange = z.object({ from_seq: z.number(), to_seq: z.number() });
export type SeqRange = Readonly<z.infer<typeof seqRange>>;

/** A number of a log, and how many right before it were left out on purpose. */
export interface SeqPlace {
  readonly seq: number;
  readonly dropped: number;
}

/** The number of an event, as a log on the disk has it. */
export function placeOf(event: StoredEvent): SeqPlace {
  return { seq: event.seq, dropped: droppedBefore(event) };
}

/** The numbers above `after`, up to `last`, that are missing among these places, which ascend. */
export function gapsIn(after: number, places: readonly SeqPlace[], last: number): readonly SeqRange[] {
  const gaps: SeqRange[] = [];
  let previous = after;
  for (const { seq, dropped } of [...places, { seq: last + 1, dropped: 0 }]) {
    if (seq <= previous) continue;
    const missing = seq - 1 - dropped;
    if (missing > previous) gaps.push({ from_seq: previous + 1, to_seq: missing });
    previous = seq;
  }
  return gaps;
}

/** What of the ranges is in none of the known ones. */
export function outside(ranges: readonly SeqRange[], known: readonly SeqRange[]): readonly SeqRange[] {
  return known.reduce(
    (left, { from_seq: from, to_seq: to }) =>
      left.flatMap((range) => [
        ...(range.from_seq < from ? [{ from_seq: range.from_seq, to_seq: Math.min(range.to_seq, from - 1) }] : []),
        ...(range.to_seq > to ? [{ from_seq: Math.max(range.from_seq, to + 1), to_seq: range.to_seq }] : []),
      ]),
    ranges,
  );
}
