import { createInterface, type Interface } from "node:readline";
import { Writable } from "node:stream";
import { z } from "zod";
import { messageOf } from "../errors.js";
import { linked } from "../util/linked.js";
import { type AgentGateway, stopTurn } from "./agent-once.js";
import { ask, type HumanQuestion } from "./answer.js";
import { dim, harmless, tell } from "./output.js";
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
  let isAnswering = false;
  let wantsToLeave = false;
  terminal.on("SIGINT", () => {
    if (wantsToLeave) return terminal.close();
    wantsToLeave = true;
    if (isAnswering) return void stopTurn(gateway.client, sessionKey);
    tell(dim("Ctrl+C once more to leave", process.stderr));
    terminal.prompt();
  });
  const lines = linesOf(terminal, left);
  const nextLine = lines.next;
  /** What was typed before the question was seen is no answer to it. */
  const read: ReadLine = async (prompt, { isHidden }, signal) => {
    terminal.setPrompt(prompt);
    terminal.prompt();
    echo.isMuted = isHidden;
    try {
      return await lines.fresh(signal);
    } finally {
      echo.isMuted = false;
      if (isHidden) output.write("\n");
      terminal.setPrompt("> ");
    }
  };

  terminal.prompt();
  for (let line = await nextLine(); line !== undefined; line = await nextLine()) {
    const content = line.trim();
    if (content === "/exit" || content === "/quit") break;
    wantsToLeave = false;
    if (content !== "") {
      isAnswering = true;
      await answer(content);
      isAnswering = false;
      wantsToLeave = false;
    }
    if (left.signal.aborted) break;
    terminal.prompt();
  }
  terminal.close();

  async function answer(content: string): Promise<void> {
    const onQuestion = (question: HumanQuestion, closed: AbortSignal): void => {
      const show = (line: string): void => screen.onNotice(line);
      void promptFor(sessionKey, question, gateway.client, { read, show }, closed);
    };
    const screen = createScreen(output, onQuestion);
    try {
      const { text, isError } = await ask({ sessionKey, content }, screen, gateway, left.signal);
      if (isError) screen.onNotice(text);
      else screen.finish(text);
    } catch (error) {
      if (left.signal.aborted) return;
      screen.onNotice(`maxclaw: ${messageOf(error)}`);
    }
  }
}

interface Lines {
  /** One line after the other, and undefined once the terminal is closed. Lines typed during an answer wait. */
  next(): Promise<string | undefined>;
  /** The first line typed from now on; rejects when `signal` aborts or the terminal is closed. */
  fresh(signal: AbortSignal): Promise<string>;
}

/** The lines of a terminal, whose end also aborts `left`. */
function linesOf(terminal: Interface, left: AbortController): Lines {
  const typed: string[] = [];
  let wake = (): void => {};
  let taker: ((line: string) => void) | undefined;
  terminal.on("line", (line) => {
    if (taker !== undefined) return taker(line);
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
    async fresh(signal) {
      using scope = linked(signal);
      const onLeft = (): void => scope.abort();
      left.signal.addEventListener("abort", onLeft, { once: true });
      try {
        return await new Promise<string>((resolve, reject) => {
          taker = resolve;
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
