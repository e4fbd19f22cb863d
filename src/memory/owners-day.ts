import type { DayOfSession } from "./daily-summary.js";
import type { WhoseOf } from "./whose.js";

/** The conversations, newest first. */
export interface ReadSessions {
  /** Those with a message since then. */
  list(part: { readonly since: number }): Promise<readonly { readonly key: string; readonly title?: string }[]>;
  peek(key: string): Promise<readonly ReadMessage[] | undefined>;
  /** `origins`: the sessions that it was copied from. */
  open(key: string): Promise<{ readonly document: { readonly origins: ReadonlySet<string> } }>;
}

interface ReadMessage {
  readonly role: "user" | "assistant" | "tool" | "system" | "error";
  readonly content: string;
  readonly timestamp: string;
  readonly outside?: string;
  readonly forGuest?: true;
}

/** What owners said in private. What others have said, or have read, must not speak to the owner's later turns. */
export async function readOwnersDay(
  sessions: ReadSessions,
  whoseOf: WhoseOf,
  from: number,
  until: number,
): Promise<readonly DayOfSession[]> {
  const isOwners = (key: string): boolean => whoseOf(key).audience === "owner";
  const days: DayOfSession[] = [];
  for (const { key, title } of await sessions.list({ since: from })) {
    if (!isOwners(key)) continue;
    const said = (await sessions.peek(key)) ?? [];
    const messages = said.flatMap(({ role, content, timestamp }) => {
      const at = Date.parse(timestamp);
      return (role === "user" || role === "assistant") && at >= from && at < until ? [{ role, content }] : [];
    });
    const isCopy = /^webui:fork-/.test(key) && messages.length > 0;
    if (isCopy && ![...(await sessions.open(key)).document.origins].every(isOwners)) continue;
    const isForeign = said.some(({ outside, forGuest }) => outside !== undefined || forGuest === true);
    days.push({ key, messages, isForeign, ...(title === undefined ? {} : { title }) });
  }
  return days.reverse();
}
