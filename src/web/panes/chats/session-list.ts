import { isRecord } from "../../../client/frames.js";
import { withoutTurns } from "../../../util/text/visible.js";
import { chatsWords } from "./words.js";

/** One line of the list of chats. */
export interface SessionEntry {
  readonly key: string;
  readonly channel: string;
  readonly title: string;
  /** A text to know the chat by while it has no title: the first one, or the last where the gateway tells no other. */
  readonly text: string;
  /** ISO 8601 or empty. */
  readonly at: string;
  readonly pinned: boolean;
  readonly archived: boolean;
  /** Messages that the owner has not read. */
  readonly unread: number;
}

export interface SessionListView {
  readonly entries: readonly SessionEntry[];
  readonly total: number;
}

/** Reads the answer to `session_list`, newest first. Lines that make no sense are left out. */
export function parseSessionList(data: unknown): SessionListView {
  const sessions = isRecord(data) && Array.isArray(data.sessions) ? data.sessions : [];
  const entries = sessions
    .filter(isRecord)
    .flatMap(({ key, title, summary, lastMessage, lastMessageAt, pinned, archived, unread }): SessionEntry[] => {
      if (typeof key !== "string") return [];
      const channel = key.slice(0, key.indexOf(":"));
      return [
        {
          key,
          channel,
          title: textOf(title),
          text: plain(textOf(summary) || textOf(lastMessage)),
          at: textOf(lastMessageAt),
          pinned: pinned === true,
          archived: archived === true,
          unread: typeof unread === "number" ? unread : 0,
        },
      ];
    });
  const total = isRecord(data) && typeof data.total === "number" ? data.total : entries.length;
  return { entries: entries.sort((a, b) => compare(b.at, a.at)), total };
}

/** How the gateway begins what a job says. */
const ofJob = /^\[Scheduled: ([^\]]+)\] /;

export function titleOf(entry: SessionEntry): string {
  return (
    withoutTurns(entry.title || entry.text.replace(ofJob, "$1: ")).slice(0, 120) ||
    (entry.channel === "webui" ? chatsWords.t("newChat") : entry.key)
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** One line without the signs of Markdown. */
function plain(text: string): string {
  return text
    .replace(/```\w*|[*_`#>|~]+/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
