import { createInterface, type Interface } from "node:readline";
import { z } from "zod";
import { messageOf } from "../errors.js";
import { type AgentGateway, stopTurn } from "./agent-once.js";
import { ask } from "./answer.js";
import { dim, harmless, tell } from "./output.js";

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

  const terminal = createInterface({ input, output, prompt: "> ", terminal: true });
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
  const nextLine = linesOf(terminal, left);

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
    const screen = createScreen(output);
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

/**
 * Gives one line after the other, and undefined once the terminal is closed, which also aborts `left`. Lines typed
 * during an answer wait.
 */
function linesOf(terminal: Interface, left: AbortController): () => Promise<string | undefined> {
  const typed: string[] = [];
  let wake = (): void => {};
  terminal.on("line", (line) => {
    typed.push(line);
    wake();
  });
  terminal.on("close", () => {
    left.abort();
    wake();
  });
  return async () => {
    while (typed.length === 0 && !left.signal.aborted) await new Promise<void>((resolve) => (wake = resolve));
    return left.signal.aborted ? undefined : typed.shift();
  };
}

/** Streamed text as it comes, everything else as lines of its own. */
function createScreen(output: ChatStreams["output"]) {
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
