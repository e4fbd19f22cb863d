import { clearLine, createInterface, cursorTo, type Interface } from "node:readline";
import { Writable } from "node:stream";
import { z } from "zod";
import { messageOf } from "../../errors.js";
import { InOrder } from "../../util/async/in-order.js";
import { linked } from "../../util/async/linked.js";
import { newId } from "../../util/ids.js";
import { dim, harmless, tell } from "../text/output.js";
import { type AgentGateway, stopTurn } from "./agent-once.js";
import { ask, type HumanQuestion } from "./answer.js";
import { followNews } from "./chat-news.js";
import { promptFor, type ReadLine } from "./question-prompt.js";

const status = z.object({
  version: z.string(),
  model: z.string(),
  provider: z.string(),
  problems: z.array(z.string()).default([]),
});

/** Where a conversation is typed and shown. */
export interface ChatStreams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

/**
 * A conversation, line by line. Ends with /exit, Ctrl+D, or Ctrl+C twice; the first Ctrl+C stops the answer that is
 * being written.
 */
export async function chat(
  sessionKey: string,
  gateway: AgentGateway,
  { input, output }: ChatStreams = { input: process.stdin, output: process.stdout },
): Promise<void> {
  const { version, model, provider, problems } = status.parse(await gateway.client.get("/api/status"));
  tell(dim(`maxclaw ${version} · ${model} (${provider}) · ${sessionKey} · /help, /exit`, process.stderr));
  for (const problem of problems) tell(dim(`! ${harmless(problem)}`, process.stderr));

  const echo = createEcho(output);
  const terminal = createInterface({ input, output: echo.stream, prompt: "> ", terminal: true });
  const left = new AbortController();
  const typed = new Set<string>();
  let answering: Screen | undefined;
  const questions = new InOrder();
  let isReading = false;
  let wantsToLeave = false;
  terminal.on("SIGINT", () => {
    if (wantsToLeave) return terminal.close();
    wantsToLeave = true;
    if (answering !== undefined) return void stopTurn(gateway.client, sessionKey);
    tell(dim("Ctrl+C once more to leave", process.stderr));
    terminal.prompt();
  });
  const lines = linesOf(terminal, left);
  /** What was typed before the question was seen is no answer to it, and stands there again behind it. */
  const readFor =
    (mayLeave: boolean): ReadLine =>
    async (prompt, { isHidden }, signal) => {
      const begun = terminal.line;
      terminal.write(null, { ctrl: true, name: "e" });
      terminal.write(null, { ctrl: true, name: "u" });
      terminal.setPrompt(prompt);
      terminal.prompt();
      echo.isMuted = isHidden;
      isReading = true;
      try {
        return await lines.fresh(signal, mayLeave);
      } finally {
        isReading = false;
        echo.isMuted = false;
        if (isHidden) output.write("\n");
        terminal.setPrompt("> ");
        if (!left.signal.aborted) {
          if (answering === undefined) terminal.prompt();
          if (begun !== "") terminal.write(begun);
        }
      }
    };
  /** Above the line that is being typed, or among what is being answered. */
  const show = (line: string, isActivity = false): void => {
    if (left.signal.aborted) return;
    const screen = isReading ? undefined : answering;
    if (screen === undefined) {
      clearLine(output, 0);
      cursorTo(output, 0);
      output.write(`${isActivity ? dim(`· ${harmless(line)}`, output) : harmless(line)}\n`);
      terminal.prompt(true);
    } else if (isActivity) screen.onActivity(line);
    else screen.onNotice(line);
  };
  const askHere = (key: string, question: HumanQuestion, closed: AbortSignal, mayLeave: boolean): void => {
    const here = { read: readFor(mayLeave), show };
    void questions.run(() => promptFor(key, question, gateway.client, here, closed, mayLeave));
  };
  const source = {
    client: gateway.client,
    address: async () => `http://${((await gateway.reconnect()) ?? gateway.client).address}`,
    token: gateway.token,
  };
  using _news = followNews(sessionKey, source, (id) => typed.has(id), {
    onAnswer: show,
    onActivity: (line) => show(line, true),
    onQuestion: (key, question, closed) => askHere(key, question, closed, true),
  });

  terminal.prompt();
  for (let line = await lines.next(); line !== undefined; line = await lines.next()) {
    const content = line.trim();
    if (content === "/exit" || content === "/quit") break;
    wantsToLeave = false;
    if (content !== "") {
      await answer(content);
      wantsToLeave = false;
    }
    if (left.signal.aborted) break;
    terminal.prompt();
  }
  terminal.close();

  async function answer(content: string): Promise<void> {
    const messageId = newId("msg");
    typed.add(messageId);
    const screen = createScreen(output, (question, closed) => askHere(sessionKey, question, closed, false));
    answering = screen;
    try {
      const { text, isError } = await ask({ sessionKey, content, messageId }, screen, gateway, left.signal);
      if (isError) screen.onNotice(text);
      else screen.finish(text);
    } catch (error) {
      if (left.signal.aborted) return;
      screen.onNotice(`maxclaw: ${messageOf(error)}`);
    } finally {
      answering = undefined;
    }
  }
}

type Screen = ReturnType<typeof createScreen>;

interface Lines {
  /** One line after the other, and undefined once the terminal is closed. Lines typed during an answer wait. */
  next(): Promise<string | undefined>;
  /**
   * The first line typed from now on; rejects when `signal` aborts or the terminal is closed. With `leavesCommands` a
   * command is none, but for those that answer.
   */
  fresh(signal: AbortSignal, leavesCommands: boolean): Promise<string>;
}

/** The lines of a terminal, whose end also aborts `left`. */
function linesOf(terminal: Interface, left: AbortController): Lines {
  const typed: string[] = [];
  let wake = (): void => {};
  let taker: { readonly take: (line: string) => void; readonly leavesCommands: boolean } | undefined;
  terminal.on("line", (line) => {
    const isCommand = /^\s*\/(?!approve\b|deny\b)/i.test(line);
    if (taker !== undefined && !(isCommand && taker.leavesCommands)) return taker.take(line);
    typed.push(line);
    wake();
  });
  terminal.on("close", () => {
    left.abort();
    wake();
  });
  return {
    async next() {
      while (typed.length === 0 && !left.signal.aborted) await new Promise<void>((resolve) => (wake = resolve));
      return left.signal.aborted ? undefined : typed.shift();
    },
    async fresh(signal, leavesCommands) {
      using scope = linked(signal);
      const onLeft = (): void => scope.abort();
      left.signal.addEventListener("abort", onLeft, { once: true });
      try {
        return await new Promise<string>((resolve, reject) => {
          taker = { take: resolve, leavesCommands };
          if (scope.signal.aborted) reject(scope.signal.reason);
          scope.signal.addEventListener("abort", () => reject(scope.signal.reason), { once: true });
        });
      } finally {
        taker = undefined;
        left.signal.removeEventListener("abort", onLeft);
      }
    },
  };
}

/** What the terminal echoes, unless it is muted while a secret is typed. */
function createEcho(output: ChatStreams["output"]) {
  const echo = {
    isMuted: false,
    stream: new Writable({
      write(chunk, _encoding, done) {
        if (!echo.isMuted) output.write(chunk);
        done();
      },
    }),
  };
  if ("columns" in output) Object.defineProperty(echo.stream, "columns", { get: () => output.columns });
  return echo;
}

/** Streamed text as it comes, everything else as lines of its own. */
function createScreen(
  output: ChatStreams["output"],
  onQuestion: (question: HumanQuestion, closed: AbortSignal) => void,
) {
  let streamed = "";
  let isLineOpen = false;
  const write = (text: string): void => {
    const shown = harmless(text);
    output.write(shown);
    if (shown !== "") isLineOpen = !shown.endsWith("\n");
  };
  const endLine = (): void => {
    if (isLineOpen) write("\n");
  };
  return {
    onQuestion,
    onText(delta: string): void {
      streamed += delta;
      write(delta);
    },
    onActivity(line: string): void {
      endLine();
      output.write(`${dim(`· ${harmless(line)}`, output)}\n`);
    },
    onNotice(line: string): void {
      endLine();
      output.write(`${harmless(line)}\n`);
    },
    /** The text before the last tool call was streamed too; only what has not been shown is added. */
    finish(text: string): void {
      if (!streamed.endsWith(text)) {
        endLine();
        write(text);
      }
      endLine();
    },
  };
}
