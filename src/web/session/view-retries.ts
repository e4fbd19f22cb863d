import type { EventOf, GatewayEvent } from "../../events/event.js";
import { type Draft, findItem, putItem } from "./view-draft.js";
import { showNotice } from "./view-parts.js";
import type { NoticeItem, TriedAgain } from "./view-state.js";

/** The line of a failed turn, which can be tried again while nothing else has come after it. */
export function showFailure(draft: Draft, event: EventOf<"turn_execution_failed">): void {
  closeFailures(draft);
  showNotice(draft, event);
  const { retry, retry_until: until } = event.payload;
  const item = findItem(draft, `notice:${event.event_id}`);
  if (retry === undefined || event.turn_id === undefined || item?.kind !== "notice") return;
  putItem(draft, { ...item, again: { turnId: event.turn_id, state: retry, until } });
}

/** The failed turn is tried again from now on. */
export function takeRetry(draft: Draft, event: EventOf<"turn_execution_start">): void {
  const { retry_of: of } = event.payload;
  if (of === undefined) return;
  change(draft, (again) => (again.turnId === of ? { ...again, state: "tried", at: event.timestamp } : again));
}

/** Somebody has written since: nothing is tried again by itself any more. */
export function stopWaiting(draft: Draft): void {
  change(draft, (again) => (again.state === "waits" ? { ...again, state: "offered" } : again));
}

/** The conversation has gone on, or is another: what failed stays as it is. */
export function closeFailures(draft: Draft): void {
  change(draft, (again) => (again.state === "tried" ? again : { ...again, state: "over" }));
}

/** What changes the conversation beside its turns; a copy begins with a failure that it can try again on its own. */
export function retriesAfter(draft: Draft, { payload }: EventOf<"session_history_changed">): void {
  if (payload.kind === "fork") stopWaiting(draft);
  else if (payload.kind !== "edit") closeFailures(draft);
}

export function retriesAfterState(draft: Draft, event: EventOf<"session_state_changed"> & GatewayEvent): void {
  if (event.payload.to === "completed" || event.payload.to === "aborted") closeFailures(draft);
}

function change(draft: Draft, after: (again: TriedAgain) => TriedAgain): void {
  for (const index of draft.failures) {
    const item = draft.items[index];
    if (item?.kind !== "notice" || item.again === undefined) continue;
    const again = after(item.again);
    if (again !== item.again) putItem(draft, { ...item, again } satisfies NoticeItem);
  }
}
