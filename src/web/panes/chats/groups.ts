import type { SessionEntry } from "./session-list.js";
import { chatsWords } from "./words.js";

/** Some chats below a heading. */
export interface ChatGroup {
  readonly title: string;
  readonly entries: readonly SessionEntry[];
}

type Age = "pinned" | "today" | "yesterday" | "week" | "earlier";
const order: readonly Age[] = ["pinned", "today", "yesterday", "week", "earlier"];

/** Pinned ones first, then by the day of their last message. `entries` come newest first and stay so. */
export function groupsOf(entries: readonly SessionEntry[], now: Date): readonly ChatGroup[] {
  const startOfToday = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  const day = (back: number): string => new Date(now.getFullYear(), now.getMonth(), now.getDate() - back).toISOString();
  const ageOf = ({ pinned, at }: SessionEntry): Age => {
    if (pinned) return "pinned";
    if (at === "" || at >= startOfToday.toISOString()) return "today";
    if (at >= day(1)) return "yesterday";
    return at >= day(7) ? "week" : "earlier";
  };
  return order
    .map((age) => ({ title: chatsWords.t(age), entries: entries.filter((entry) => ageOf(entry) === age) }))
    .filter((group) => group.entries.length > 0);
}
