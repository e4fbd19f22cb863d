import { z } from "zod";
import { type SlackMessage, slackMessage } from "../message.js";

/** Something that was said, or has happened to it. */
export interface Talk {
  readonly channel: string;
  readonly kind: "new" | "edited" | "deleted";
  /** As it reads now; of a deleted one, as it read. */
  readonly message: SlackMessage;
  /** Of an edited one: as it read. */
  readonly before?: SlackMessage | undefined;
}

const inChannel = z.looseObject({ channel: z.string(), subtype: z.string().nullish() });
const changed = z.looseObject({ message: slackMessage, previous_message: slackMessage.nullish() });
const deleted = z.looseObject({ previous_message: slackMessage });

/** Reads an event of the Events API; undefined for what is not about a message, or cannot be read. */
export function talkIn(event: unknown): Talk | undefined {
  const { data: place } = inChannel.safeParse(event);
  if (place === undefined) return undefined;
  const { channel, subtype } = place;
  if (subtype === "message_changed") {
    const { data } = changed.safeParse(event);
    // Slack tells about what it shows of addresses as if the message had been edited.
    const { edited, user } = data?.message ?? {};
    if (data === undefined || edited === undefined || edited === null) return undefined;
    // It would count as a word of its author.
    if ((edited.user ?? user) !== user) return undefined;
    return { channel, kind: "edited", message: data.message, before: data.previous_message ?? undefined };
  }
  if (subtype === "message_deleted") {
    const { data } = deleted.safeParse(event);
    return data === undefined ? undefined : { channel, kind: "deleted", message: data.previous_message };
  }
  const { data: message } = slackMessage.safeParse(event);
  return message === undefined ? undefined : { channel, kind: "new", message };
}

/** Messages, and mentions where an app has only these. */
export function isTalkEvent(event: unknown): boolean {
  const { data } = z.looseObject({ type: z.string() }).safeParse(event);
  return data?.type === "message" || data?.type === "app_mention";
}
