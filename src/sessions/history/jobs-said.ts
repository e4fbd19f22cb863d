import { channelOf } from "../../events/session-key.js";
import type { DocumentMessage } from "../session.js";
import { holdsText } from "./same-text.js";

/** The newest conversations of jobs and heartbeats are looked through for what a message quotes. */
const maxJobSessions = 50;

/**
 * Whether a scheduled job or a heartbeat has said this, free of what others wrote: they answer in chats whose own
 * conversation does not hold it.
 */
export async function haveJobsSaid(
  sessions: {
    keys(isWanted: (key: string) => boolean): Promise<readonly string[]>;
    peek(key: string): Promise<readonly DocumentMessage[] | undefined>;
  },
  text: string,
): Promise<boolean> {
  const own = await sessions.keys((key) => channelOf(key) === "cron");
  for (const key of own.slice(0, maxJobSessions)) {
    const messages = (await sessions.peek(key)) ?? [];
    const ownWords = messages.filter(({ role, outside }) => role === "assistant" && outside === undefined);
    if (holdsText(ownWords, text)) return true;
  }
  return false;
}
