import type { AssistantItem, Item, UserItem } from "../../session/view-state.js";

/** What the reader can do with messages of the open chat. */
export interface MessageActions {
  /** Sends this text, with the files of the message, in place of it and of all that came after it. Rejects with the reason. */
  replace(item: UserItem, text: string): Promise<void>;
  /** Opens a chat of its own with all that was said up to this event; `text` is written there and not sent. */
  branch(seq: number, text?: string): void;
  /** Opens the copy of the chat as it was up to an event. */
  showEarlier(seq: number): void;
  /** Has the question of this answer answered again; absent where it was not one question. */
  answerAgain(item: AssistantItem): (() => void) | undefined;
}

/** The message that an answer answers: its turn's only one. */
export function questionOfAnswer(items: readonly Item[], answer: AssistantItem): UserItem | undefined {
  const asked = items.filter((item): item is UserItem => item.kind === "user" && item.turnId === answer.turnId);
  const [only] = asked;
  return asked.length === 1 && answer.turnId !== undefined && only?.contextSeq !== undefined ? only : undefined;
}

/** The message that an edit of "the last one" is about. */
export function lastEditable(items: readonly Item[]): UserItem | undefined {
  const last = items.findLast((item) => item.kind === "user");
  return last?.kind === "user" && last.contextSeq !== undefined ? last : undefined;
}
