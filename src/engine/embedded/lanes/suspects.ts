import type { EventDraft } from "../../../events/event.js";
import type { Operation } from "../journal/operations.js";
import type { Suspicion } from "./suspicion.js";
import type { WorkItem } from "./work-table.js";

/** Against work with as many the case is closed: it may only be buried. */
const fatalPoints = 9;
const pointsWithoutProgress = 3;
const pointsWithProgress = 1;
const longestWindowMs = 60_000;
/** Before a run that is to count the process has to live so many windows without any suspect in work. */
const quietWindows = 8;
const longestQuietMs = 120_000;

export function isCondemned({ suspicion }: WorkItem): boolean {
  return suspicion !== undefined && suspicion.points >= fatalPoints;
}

/** How long no suspect may have been in work before this one begins. */
export function quietMsOf({ limit, alone, windowMs }: Suspicion): number {
  return limit > 1 || alone === 0 ? 0 : Math.min(quietWindows * windowMs, longestQuietMs);
}

/**
 * What the end of a process means for the work that it left behind. What was in work becomes suspect, half as many
 * suspects as before may be in work together, until one is the only one. Against that one speaks only an end of the
 * process soon after its run began, after the process had lived on for several times as long without it; three such ends
 * in a row are enough, nine where it got on a little each time. An end of the process without any suspect in work shows
 * that something else ends it, and clears everybody of what was counted.
 */
export function judgeCrash(all: readonly WorkItem[], firstWindowMs: number): Operation[] {
  const inWork = all.filter(({ run }) => run !== undefined);
  const suspects = inWork.filter((item) => item.suspicion !== undefined && item.run?.outlived !== true);
  const judged = inWork.map((item) => {
    const suspicion = judge(item, inWork.length, suspects, firstWindowMs);
    return { ...targetOf(item), attempts: item.attempts, crashes: item.crashes + 1, suspicion };
  });
  const cleared = suspects.length > 0 ? [] : all.filter(({ run }) => run === undefined).flatMap(clear);
  return [...cleared, ...judged];
}

function judge(
  { run = {}, suspicion }: WorkItem,
  together: number,
  suspects: readonly WorkItem[],
  windowMs: number,
): Suspicion {
  if (suspicion === undefined) return { limit: half(together), alone: 0, points: 0, windowMs };
  if (run.outlived === true) {
    const longer = Math.min(2 * suspicion.windowMs, longestWindowMs);
    return suspects.length > 0 ? suspicion : { ...suspicion, points: 0, windowMs: longer };
  }
  if (suspects.length > 1) return { ...suspicion, limit: Math.min(suspicion.limit, half(suspects.length)) };
  if (run.quiet !== true) return { ...suspicion, limit: 1, alone: suspicion.alone + 1 };
  const counts = run.progressed === true ? pointsWithProgress : pointsWithoutProgress;
  return { ...suspicion, points: suspicion.points + counts };
}

/** Takes back what was counted, unless the case is closed. */
function clear(item: WorkItem): Operation[] {
  const { suspicion, attempts } = item;
  if (suspicion === undefined || suspicion.points + suspicion.alone === 0 || isCondemned(item)) return [];
  return [{ ...targetOf(item), attempts, suspicion: { ...suspicion, points: 0, alone: 0 } }];
}

function half(count: number): number {
  return Math.max(1, Math.floor(count / 2));
}

function targetOf({ work: { queue, id } }: WorkItem) {
  return { o: "attempt" as const, queue, id };
}

/** The change of a suspect's run that goes with these events, if they bring it on. */
export function progressOf(item: WorkItem, events: readonly EventDraft[]): readonly Operation[] {
  const { run, suspicion, attempts } = item;
  if (run === undefined || suspicion === undefined || run.progressed === true) return [];
  const gotOn = events.some(
    ({ type, payload }) =>
      type === "tool_execution_complete" || (type === "assistant_message" && "partial" in payload && !payload.partial),
  );
  return gotOn ? [{ ...targetOf(item), attempts, run: { ...run, progressed: true } }] : [];
}

/** The change of a suspect's run once it has lasted for longer than its window. */
export function outlives(item: WorkItem): Operation[] {
  const { run, attempts } = item;
  return run === undefined ? [] : [{ ...targetOf(item), attempts, run: { ...run, outlived: true } }];
}
