import { z } from "zod";
import { messageOf } from "../../errors.js";
import { InOrder } from "../../util/async/in-order.js";
import { newId } from "../../util/ids.js";
import { dim, harmless, printNote } from "../text/output.js";
import { type AgentGateway, stopTurn } from "./agent-once.js";
import { ask, type HumanQuestion } from "./answer.js";
import { AnswerScreen } from "./answer-screen.js";
import { followNews } from "./chat-news.js";
import { shownAnswer } from "./markdown/answer-text.js";
import { promptFor, type ReadLine } from "./question-prompt.js";
import { type ChatStreams, ChatTerminal } from "./terminal.js";

const status = z.object({
  version: z.string(),
  model: z.string(),
  provider: z.string(),
  problems: z.array(z.string()).default([]),
});

/**
 * A conversation, line by line. Ends with /exit, Ctrl+D, or Ctrl+C twice; the first Ctrl+C stops the answer that is
 * being written.
 */
export async function chat(
  sessionKey: string,
  gateway: AgentGateway,
  streams: ChatStreams = { input: process.stdin, output: process.stdout },
): Promise<void> {
  const { version, model, provider, problems } = status.parse(await gateway.client.get("/api/status"));
  printNote(dim(`maxclaw ${version} · ${model} (${provider}) · ${sessionKey} · /help, /exit`, process.stderr));
  for (const problem of problems) printNote(dim(`! ${harmless(problem)}`, process.stderr));
  await new Conversation(sessionKey, gateway, streams).run();
}

class Conversation {
  readonly #sessionKey: string;
  readonly #gateway: AgentGateway;
  readonly #output: ChatStreams["output"];
  readonly #terminal: ChatTerminal;
  /** Ids of the messages that were typed here. */
  readonly #typed = new Set<string>();
  #answering: AnswerScreen | undefined;
  readonly #questions = new InOrder();
  #wantsToLeave = false;

  constructor(sessionKey: string, gateway: AgentGateway, streams: ChatStreams) {
    this.#sessionKey = sessionKey;
    this.#gateway = gateway;
    this.#output = streams.output;
    this.#terminal = new ChatTerminal(streams, {
      onInterrupt: () => this.#interrupt(),
      isIdle: () => this.#answering === undefined,
      onCommand: (line) => void this.#sendBeside(line),
    });
  }

  async run(): Promise<void> {
    using _news = this.#followNews();
    const terminal = this.#terminal;
    terminal.prompt();
    for (let line = await terminal.next(); line !== undefined; line = await terminal.next()) {
      const content = line.trim();
      if (content === "/exit" || content === "/quit") break;
      this.#wantsToLeave = false;
      if (content !== "") {
        await this.#answer(content);
        this.#wantsToLeave = false;
      }
      if (terminal.left.aborted) break;
      terminal.prompt();
    }
    terminal.close();
  }

  #interrupt(): void {
    if (this.#wantsToLeave) {
      this.#terminal.close();
      return;
    }
    this.#wantsToLeave = true;
    if (this.#answering !== undefined) {
      this.#answering.onActivity("Stopping the answer. Ctrl+C once more leaves.");
      void stopTurn(this.#gateway.client, this.#sessionKey);
      return;
    }
    printNote(dim("Ctrl+C once more to leave", process.stderr));
    this.#terminal.prompt();
  }

  async #answer(content: string): Promise<void> {
    const sessionKey = this.#sessionKey;
    const messageId = newId("msg");
    this.#typed.add(messageId);
    const screen = new AnswerScreen(this.#output, (question, closed) => this.#ask(sessionKey, question, closed, false));
    this.#answering = screen;
    try {
      const { left } = this.#terminal;
      const { text, isError } = await ask({ sessionKey, content, messageId }, screen, this.#gateway, left);
      if (isError) screen.onNotice(text);
      else screen.finish(text);
      // The gateway says it where there was no text yet.
      if (this.#wantsToLeave && !/^stopped\.$/i.test(text.trim())) screen.onActivity("Stopped.");
    } catch (error) {
      if (this.#terminal.left.aborted) return;
      screen.onNotice(`maxclaw: ${messageOf(error)}`);
    } finally {
      this.#answering = undefined;
    }
  }

  /** What is answered is told as news, because the answer under way has the screen. */
  async #sendBeside(content: string): Promise<void> {
    const body = { sessionKey: this.#sessionKey, content, messageId: newId("msg"), channel: "cli" };
    try {
      await this.#gateway.client.post("/api/message", body);
    } catch (error) {
      if (!this.#terminal.left.aborted) this.#show(`maxclaw: ${messageOf(error)}`);
    }
  }

  #followNews(): Disposable {
    const gateway = this.#gateway;
    const source = {
      client: gateway.client,
      address: async () => `http://${((await gateway.reconnect()) ?? gateway.client).address}`,
      token: gateway.token,
    };
    return followNews(this.#sessionKey, source, (id) => this.#typed.has(id), {
      onAnswer: (text) => this.#showAnswer(text),
      onActivity: (line) => this.#show(line, true),
      onQuestion: (key, question, closed) => this.#ask(key, question, closed, true),
    });
  }

  #showAnswer(text: string): void {
    if (this.#terminal.left.aborted) return;
    const screen = this.#terminal.isReading ? undefined : this.#answering;
    if (screen === undefined) this.#terminal.showAbove(shownAnswer(text, this.#output));
    else screen.onAnswer(text);
  }

  /** Above the line that is being typed, or among what is being answered. */
  #show(line: string, isActivity = false): void {
    if (this.#terminal.left.aborted) return;
    const screen = this.#terminal.isReading ? undefined : this.#answering;
    if (screen === undefined)
      this.#terminal.showAbove(isActivity ? dim(`· ${harmless(line)}`, this.#output) : harmless(line));
    else if (isActivity) screen.onActivity(line);
    else screen.onNotice(line);
  }

  #ask(key: string, question: HumanQuestion, closed: AbortSignal, mayLeave: boolean): void {
    const read: ReadLine = (prompt, { isHidden }, signal) =>
      this.#terminal.fresh({ prompt, isHidden, leavesCommands: mayLeave }, signal);
    const here = { read, show: (line: string) => this.#show(line) };
    void this.#questions.run(() => promptFor(key, question, this.#gateway.client, here, closed, mayLeave));
  }
}
