import { withoutTurns } from "../../util/text/visible.js";
import { type SessionListView, titleOf } from "../panes/chats/session-list.js";
import type { SessionState } from "../session/view-state.js";
import { frameWords } from "./words.js";

/** What is above the open chat: its title, else how the list of chats calls it, else how it begins. */
export function chatTitle({ view, pending, hasOlder }: SessionState, { entries }: SessionListView): string {
  if (view.title) return withoutTurns(view.title);
  const entry = entries.find(({ key }) => key === view.sessionKey);
  if (entry !== undefined) return titleOf(entry);
  const first = hasOlder ? undefined : (view.items.find((item) => item.kind === "user") ?? pending[0]);
  return (first !== undefined && "text" in first ? first.text.slice(0, 80) : "") || frameWords.t("newChat");
}
