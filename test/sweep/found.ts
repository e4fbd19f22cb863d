import { acceptedIn, endsOf, repliesIn } from "./evidence.js";
import type { Look, LookAtChat } from "./protocol.js";

const settled = new Set(["sent", "refused", "dead_letter"]);

/**
 * What must hold for an engine that was just opened after any end of the process, before anything works with it.
 * `acknowledged` names, by session, the texts whose platform was told that they have arrived. Returns what is broken.
 */
export function checkFound(
  look: Pick<Look, "chats" | "dead" | "parked">,
  acknowledged: ReadonlyMap<string, readonly string[]>,
  isClient: (key: string) => boolean,
): readonly string[] {
  const dead = new Set(look.dead);
  return look.chats.flatMap((chat) =>
    [
      ...checkSequence(chat),
      ...checkAcknowledged(chat, acknowledged.get(chat.key) ?? [], look.parked),
      ...checkMessages(chat, dead),
      ...checkReplies(chat, isClient(chat.key)),
    ].map((what) => `${chat.key}: ${what}`),
  );
}

function checkSequence({ events, lastSequence }: LookAtChat): readonly string[] {
  const gap = events.findIndex(({ seq }, index) => seq !== index + 1);
  if (gap !== -1) return [`sequence: event ${gap + 1} has the number ${events[gap]?.seq}`];
  return events.length === lastSequence ? [] : [`sequence: it ends at ${events.length} and not at ${lastSequence}`];
}

function checkAcknowledged(
  { events }: LookAtChat,
  texts: readonly string[],
  parked: readonly string[],
): readonly string[] {
  const kept = new Set([...acceptedIn(events).map(({ text }) => text), ...parked]);
  return texts
    .filter((text) => !kept.has(text))
    .map((text) => `lost: "${text}" was acknowledged to its platform and is neither in the log nor parked`);
}

/** The acknowledgement of a message and its last event are there together or not at all. */
function checkMessages({ events, inbound }: LookAtChat, dead: ReadonlySet<string>): readonly string[] {
  const accepted = acceptedIn(events);
  const ended = new Set(endsOf(events).flatMap(({ payload }) => payload.message_ids));
  const waiting = new Set(inbound);
  const broken = accepted.flatMap(({ id, text }) => {
    if (!waiting.has(id) && !ended.has(id)) return [`all or none: "${text}" neither waits nor has an end`];
    if (waiting.has(id) && ended.has(id)) return [`all or none: "${text}" has an end and still waits`];
    return dead.has(id) && !ended.has(id) ? [`all or none: "${text}" was buried without an end`] : [];
  });
  const known = new Set(accepted.map(({ id }) => id));
  for (const id of inbound) if (!known.has(id)) broken.push(`all or none: ${id} waits and was never told about`);
  return broken;
}

/** The end of a turn and its replies are there together or not at all, and so are a receipt and its event. */
function checkReplies({ events, outbound }: LookAtChat, isClient: boolean): readonly string[] {
  const ends = endsOf(events);
  const replies = repliesIn(events);
  const waiting = new Set(outbound);
  const broken: string[] = [];
  for (const { id, turnId, story } of replies) {
    const isSettled = story.some(({ status }) => settled.has(status));
    if (isSettled === waiting.has(id))
      broken.push(
        `all or none: reply ${id} ${isSettled ? "is settled and still waits" : "neither waits nor is settled"}`,
      );
    if (!ends.some((end) => end.turn_id === turnId)) broken.push(`all or none: reply ${id} belongs to no end`);
  }
  const known = new Set(replies.map(({ id }) => id));
  for (const id of outbound) if (!known.has(id)) broken.push(`all or none: reply ${id} waits and was never told about`);
  const answeredTurns = new Set(replies.map(({ turnId }) => turnId));
  for (const { turn_id: turnId } of ends)
    if (!isClient && !answeredTurns.has(turnId)) broken.push(`all or none: ${turnId} has an end and no reply`);
  return broken;
}
