import { dim, harmless } from "../text/output.js";
import type { AnswerListener } from "./answer.js";
import { AnswerText, shownAnswer } from "./markdown/answer-text.js";
import type { ChatStreams } from "./terminal.js";

/** One answer as it comes in: streamed text as it comes, everything else as lines of its own. */
export class AnswerScreen implements AnswerListener {
  readonly onQuestion: AnswerListener["onQuestion"];
  readonly #output: ChatStreams["output"];
  readonly #text: AnswerText;
  #streamed = "";

  constructor(output: ChatStreams["output"], onQuestion: AnswerListener["onQuestion"]) {
    this.#output = output;
    this.#text = new AnswerText(output);
    this.onQuestion = onQuestion;
  }

  onText(delta: string): void {
    this.#streamed += delta;
    this.#text.write(delta);
  }

  onActivity(line: string): void {
    this.#text.endLine();
    this.#output.write(`${dim(`· ${harmless(line)}`, this.#output)}\n`);
  }

  onNotice(line: string): void {
    this.#text.endLine();
    this.#output.write(`${harmless(line)}\n`);
  }

  /** Another answer than the one that is being written. */
  onAnswer(text: string): void {
    this.#text.endLine();
    this.#output.write(`${shownAnswer(text, this.#output)}\n`);
  }

  /** The text before the last tool call was streamed too; only what has not been shown is added. */
  finish(text: string): void {
    if (!this.#streamed.endsWith(text)) {
      this.#text.endLine();
      this.#text.write(text);
    }
    this.#text.endLine();
  }
}
