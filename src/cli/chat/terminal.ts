import { clearLine, createInterface, cursorTo, type Interface } from "node:readline";
import { Writable } from "node:stream";
import { linked } from "../../util/async/linked.js";

/** Where a conversation is typed and shown. */
export interface ChatStreams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

export interface TerminalOptions {
  /** Ctrl+C. */
  readonly onInterrupt: () => void;
  /** Nothing is being written above the prompt, so that it may be there. */
  readonly isIdle: () => boolean;
  /** A command that was typed while a question of the answer under way is read. */
  readonly onCommand: (line: string) => void;
}

export interface FreshLine {
  readonly prompt: string;
  /** Not echoed. */
  readonly isHidden: boolean;
  /** A command waits to be taken, as any line does while nothing is answered. Without it `onCommand` gets it. */
  readonly leavesCommands: boolean;
}

/** The terminal of a conversation: a line that is typed, and what is shown above it. */
export class ChatTerminal {
  readonly #output: ChatStreams["output"];
  readonly #options: TerminalOptions;
  readonly #echo: Echo;
  readonly #readline: Interface;
  readonly #left = new AbortController();
  /** Lines that wait to be taken, those typed during an answer among them. */
  readonly #typed: string[] = [];
  #wake = (): void => {};
  #taker: (Pick<FreshLine, "isHidden" | "leavesCommands"> & { readonly take: (line: string) => void }) | undefined;

  constructor({ input, output }: ChatStreams, options: TerminalOptions) {
    this.#output = output;
    this.#options = options;
    this.#echo = createEcho(output);
    this.#readline = createInterface({ input, output: this.#echo.stream, prompt: "> ", terminal: true });
    this.#readline.on("SIGINT", options.onInterrupt);
    this.#readline.on("line", (line) => this.#take(line));
    this.#readline.on("close", () => {
      this.#left.abort();
      this.#wake();
    });
  }

  /** Aborts once the terminal is closed. */
  get left(): AbortSignal {
    return this.#left.signal;
  }

  /** A line is being read for a question. */
  get isReading(): boolean {
    return this.#taker !== undefined;
  }

  prompt(): void {
    this.#readline.prompt();
  }

  close(): void {
    this.#readline.close();
  }

  /** Shows a line above the one that is being typed. */
  showAbove(line: string): void {
    clearLine(this.#output, 0);
    cursorTo(this.#output, 0);
    this.#output.write(`${line}\n`);
    this.#readline.prompt(true);
  }

  /** One line after the other, and undefined once the terminal is closed. */
  async next(): Promise<string | undefined> {
    while (this.#typed.length === 0 && !this.left.aborted)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    return this.left.aborted ? undefined : this.#typed.shift();
  }

  /**
   * The first line typed from now on; rejects when `signal` aborts or the terminal is closed. What was typed before is not
   * an answer to it, and is there again behind it.
   */
  async fresh({ prompt, isHidden, leavesCommands }: FreshLine, signal: AbortSignal): Promise<string> {
    const begun = this.#readline.line;
    this.#readline.write(null, { ctrl: true, name: "e" });
    this.#readline.write(null, { ctrl: true, name: "u" });
    this.#readline.setPrompt(prompt);
    this.#readline.prompt();
    this.#echo.isMuted = isHidden;
    try {
      return await this.#taken({ isHidden, leavesCommands }, signal);
    } finally {
      this.#echo.isMuted = false;
      if (isHidden) this.#output.write("\n");
      this.#readline.setPrompt("> ");
      if (!this.left.aborted) {
        if (this.#options.isIdle()) this.#readline.prompt();
        if (begun !== "") this.#readline.write(begun);
      }
    }
  }

  #take(line: string): void {
    const isCommand = /^\s*\/(?!approve\b|deny\b)/i.test(line);
    const taker = this.#taker;
    // What is typed unseen may be a secret.
    if (taker !== undefined && (!isCommand || taker.isHidden)) {
      taker.take(line);
      return;
    }
    if (taker?.leavesCommands === false) {
      this.#options.onCommand(line.trim());
      return;
    }
    this.#typed.push(line);
    this.#wake();
  }

  async #taken(how: Pick<FreshLine, "isHidden" | "leavesCommands">, signal: AbortSignal): Promise<string> {
    using scope = linked(signal);
    const onLeft = (): void => scope.abort();
    this.left.addEventListener("abort", onLeft, { once: true });
    try {
      return await new Promise<string>((resolve, reject) => {
        this.#taker = { ...how, take: resolve };
        if (scope.signal.aborted) reject(scope.signal.reason);
        scope.signal.addEventListener("abort", () => reject(scope.signal.reason), { once: true });
      });
    } finally {
      this.#taker = undefined;
      this.left.removeEventListener("abort", onLeft);
    }
  }
}

/** What the terminal echoes, unless it is muted while a secret is typed. */
interface Echo {
  isMuted: boolean;
  readonly stream: Writable;
}

function createEcho(output: ChatStreams["output"]): Echo {
  const echo: Echo = {
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
