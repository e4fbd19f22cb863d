import { type ContentPart, textOf } from "../../events/content.js";
import type { EventDraft } from "../../events/event.js";
import { closingLine, fenceAfter } from "../../util/text/fence.js";
import type { BuryScope } from "./scope.js";
import type { TurnLog } from "./turn-log.js";

/** How a notice reaches a chat in which words of the answer may be already. */
export interface NoticeBeside {
  readonly replyId: string;
  readonly text: string;
  /** Words that people have read, and that no event tells yet. */
  readonly unrecorded: readonly EventDraft[];
}

/**
 * Keeps the words that people are reading: the notice comes below them in the same message. Of words from before a
 * restart nobody knows how they read, so that they stay as they are, and the notice is a message of its own. `unwritten`
 * are the turn's events that go with its end.
 */
export function noticeBeside(
  { ports, session }: Pick<BuryScope, "ports" | "session">,
  log: TurnLog,
  notice: string,
  unwritten: readonly EventDraft[] = [],
): NoticeBeside {
  const standing = ports.chat.previews.freeze(previewOf(log.turnId));
  if (standing === undefined) return { replyId: log.turnId, text: notice, unrecorded: [] };
  const { shown } = standing;
  if (shown === "") return { replyId: `${log.turnId}-end`, text: notice, unrecorded: [] };
  const partial = unwritten.flatMap(saidIn).at(-1);
  const said = [...session.openTurn, ...unwritten].flatMap(saidIn);
  const known = said.findLast((text) => beginsAlike(text, shown));
  const kept = known ?? shown;
  const more = partial === undefined || partial === kept ? [] : [closed(partial)];
  return {
    replyId: log.turnId,
    text: [closed(kept), ...more, notice].join("\n\n"),
    unrecorded: known === undefined ? [saidBefore(log, shown)] : [],
  };
}

/** Called when the turn has ended: where none of its replies takes the place of its first words, they stay as they are. */
export async function leaveStanding(
  { ports }: Pick<BuryScope, "ports">,
  replies: readonly { readonly id: string }[],
  turnId: string,
): Promise<void> {
  const id = previewOf(turnId);
  if (!replies.some((work) => work.id === id)) await ports.chat.previews.forget(id);
}

/** The first platform message of a turn's reply. */
function previewOf(turnId: string): string {
  return `${turnId}#1`;
}

function saidIn({ type, payload }: { readonly type: string; readonly payload: unknown }): readonly string[] {
  if (type !== "assistant_message") return [];
  // The catalogue ties the type to its payload.
  const { content, iteration } = payload as { readonly content: readonly ContentPart[]; readonly iteration: number };
  const text = iteration === 0 ? "" : textOf(content).trim();
  return text === "" ? [] : [text];
}

/** Longer words are cut at a platform's limit, and may end with marks that close what is open there. */
const enough = 200;

function beginsAlike(text: string, shown: string): boolean {
  const head = shown.trim();
  return text.replace(/\r\n?/g, "\n").startsWith(head.length > enough ? head.slice(0, enough) : head);
}

/** A code block that was cut off would swallow what comes below it. */
function closed(text: string): string {
  const open = fenceAfter(text);
  return open === undefined ? text.trimEnd() : `${text.trimEnd()}\n${closingLine(open)}`;
}

function saidBefore(log: TurnLog, text: string): EventDraft {
  return log.draft("session_history_changed", { kind: "said", messages: [{ role: "assistant", content: text }] });
}
