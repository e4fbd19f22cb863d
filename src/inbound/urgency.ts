import type { OpenQuestions } from "../agent/questions/open-questions.js";
import type { InboundMessage } from "../bus/messages.js";
import type { Arrival } from "./arrival.js";

/** What texts can ask for by themselves. */
export interface Words {
  /** The text is a command. */
  readonly isCommand: (content: string) => boolean;
  /** The text stops what is under way. */
  readonly asksToStop: (content: string) => boolean;
}

/** What waits for nothing else of its chat, and what has room where its chat is full. */
export class Urgency {
  readonly #words: Words;
  readonly #questions: Pick<OpenQuestions, "of" | "isAnsweredBy">;

  constructor(words: Words, questions: Pick<OpenQuestions, "of" | "isAnsweredBy">) {
    this.#words = words;
    this.#questions = questions;
  }

  /** It stops what is under way, or answers what was asked. Files of its own have to be fetched first. */
  actsAtOnce({ message, received: { files = [], quotedFiles = [] }, from }: Arrival): boolean {
    const { content, sessionKey, change, outside } = message;
    if (files.length > 0) return false;
    if (this.#words.asksToStop(content)) return true;
    if (change !== undefined || outside !== undefined || quotedFiles.length > 0) return false;
    return this.#questions.isAnsweredBy(sessionKey, content, from);
  }

  /** A command, a stop, or a text where it may be an answer. */
  hasRoomAnyway({ content, sessionKey }: InboundMessage): boolean {
    const { isCommand, asksToStop } = this.#words;
    return isCommand(content) || asksToStop(content) || this.#questions.of(sessionKey) !== undefined;
  }
}
