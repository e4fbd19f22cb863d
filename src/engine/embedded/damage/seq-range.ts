import { z } from "zod";

/** Sequence numbers of a session, both ends included. */
export const seqRange = z.object({ from_seq: z.number(), to_seq: z.number() });
export type SeqRange = Readonly<z.infer<typeof seqRange>>;

/** The numbers above `after`, up to `last`, that are not among these, which ascend. */
export function gapsIn(after: number, seqs: readonly number[], last: number): readonly SeqRange[] {
  const gaps: SeqRange[] = [];
  let previous = after;
  for (const seq of [...seqs, last + 1]) {
    if (seq <= previous) continue;
    if (seq > previous + 1) gaps.push({ from_seq: previous + 1, to_seq: seq - 1 });
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
