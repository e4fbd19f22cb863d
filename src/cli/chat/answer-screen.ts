import { dim, harmless } from "../text/output.js";
import type { AnswerListener } from "./answer.js";
import type { ChatStreams } from "./terminal.js";

/** One answer as it comes in: streamed text as it comes, everything else as lines of its own. */
export class AnswerScreen implements AnswerListener {
  readonly onQuestion: AnswerListener["onQuestion"];
  readonly #output: ChatStreams["output"];
  #streamed = "";
  #isLineOpen = false;

  constructor(output: ChatStreams["output"], onQuestion: AnswerListener["onQuestion"]) {
    this.#output = output;
    this.onQuestion = onQuestion;
  }

  onText(delta: string): void {
    this.#streamed += delta;
    this.#write(delta);
  }

  onActivity(line: string): void {
    this.#endLine();
    this.#output.write(`${dim(`· ${harmless(line)}`, this.#output)}\n`);
  }

  onNotice(line: string): void {
    this.#endLine();
    this.#output.write(`${harmless(line)}\n`);
  }

  /** The text before the last tool call was streamed too; only what has not been shown is added. */
  finish(text: string): void {
    if (!this.#streamed.endsWith(text)) {
      this.#endLine();
      this.#write(text);
    }
    this.#endLine();
  }

  #write(text: string): void {
    const shown = harmless(text);
    this.#output.write(shown);
    if (shown !== "") this.#isLineOpen = !shown.endsWith("\n");
  }

  #endLine(): void {
    if (this.#isLineOpen) this.#write("\n");
  }
}
