/** One program of a command line, read as well as can be. */
export interface CommandPart {
  /** Without quotes; the program first. */
  readonly words: readonly string[];
  /** Where its output and input lead. */
  readonly targets: readonly string[];
}

export interface SplitCommand {
  readonly parts: readonly CommandPart[];
  /** Nothing in it is put together only when it runs: no variables but HOME and PWD, no substitutions. */
  readonly isClear: boolean;
}

interface Options {
  /** Means `~`, `$HOME` and the like. */
  readonly userHome: string;
  readonly cwd: string;
}

const deepest = 5;
const longest = 20_000;
const operators = ";&|()\n";
const openers: ReadonlySet<string> = new Set(
  "{ } ! if then elif else fi while until do done time case esac for in select function [[".split(" "),
);

/**
 * The programs of a command line, also those in substitutions. It takes more for a program than a shell does, never less
 * of what is there in plain letters: for finding what a command should not do unasked, not for letting it do anything.
 */
export function splitCommand(command: string, options: Options, depth = 0): SplitCommand {
  const reader = new CommandReader(command.slice(0, longest), options, depth);
  const parts = reader.read();
  return { parts, isClear: reader.isClear && command.length <= longest };
}

class CommandReader {
  isClear = true;
  readonly #text: string;
  readonly #options: Options;
  readonly #depth: number;
  readonly #parts: CommandPart[] = [];
  #words: string[] = [];
  #targets: string[] = [];
  #word: string | undefined;
  #isTarget = false;
  #at = 0;

  constructor(text: string, options: Options, depth: number) {
    this.#text = text.replaceAll("\\\n", "");
    this.#options = options;
    this.#depth = depth;
  }

  read(): readonly CommandPart[] {
    while (this.#at < this.#text.length) this.#step(this.#text[this.#at] ?? "");
    this.#endPart();
    return this.#parts;
  }

  #step(sign: string): void {
    if (sign === " " || sign === "\t" || sign === "\r") {
      this.#endWord();
      this.#at += 1;
    } else if (operators.includes(sign)) {
      this.#endPart();
      this.#at += 1;
    } else if (sign === "#" && this.#word === undefined) {
      const end = this.#text.indexOf("\n", this.#at);
      this.#at = end === -1 ? this.#text.length : end;
    } else if (sign === ">" || sign === "<") this.#redirect(sign);
    else if (sign === "'" || sign === '"') this.#quoted(sign);
    else if (sign === "$" || sign === "`") this.#expansion(sign);
    else if (sign === "\\") {
      this.#add(this.#text[this.#at + 1] ?? "");
      this.#at += 2;
    } else if (sign === "~" && (this.#word === undefined || /[=:]$/.test(this.#word))) this.#tilde();
    else {
      if (sign === "{" && /^\{[^\s{}]*(?:,|\.\.)/.test(this.#text.slice(this.#at, this.#at + 200)))
        this.isClear = false;
      this.#add(sign);
      this.#at += 1;
    }
  }

  #add(text: string): void {
    this.#word = `${this.#word ?? ""}${text}`;
  }

  #tilde(): void {
    const next = this.#text[this.#at + 1] ?? "";
    if (/[A-Za-z0-9_+-]/.test(next)) this.isClear = false;
    this.#add(this.#options.userHome);
    this.#at += 1;
  }

  #redirect(sign: string): void {
    // A number or `&` in front says for which channel.
    if (this.#word !== undefined && !/^\d+$/.test(this.#word)) this.#endWord();
    this.#word = undefined;
    const run = /^(?:<<<?-?|<>|<\(|>\(|>>|>\||[<>]&?)/.exec(this.#text.slice(this.#at, this.#at + 4))?.[0] ?? sign;
    this.#at += run.length;
    if (run.endsWith("(")) {
      this.isClear = false;
      this.#endPart();
      return;
    }
    if (run.startsWith("<<")) this.isClear = false;
    this.#isTarget = true;
  }

  #quoted(quote: string): void {
    this.#add("");
    this.#at += 1;
    while (this.#at < this.#text.length) {
      const sign = this.#text[this.#at] ?? "";
      if (sign === quote) {
        this.#at += 1;
        return;
      }
      if (quote === '"' && (sign === "$" || sign === "`")) this.#expansion(sign);
      else if (quote === '"' && sign === "\\") {
        this.#add(this.#text[this.#at + 1] ?? "");
        this.#at += 2;
      } else {
        this.#add(sign);
        this.#at += 1;
      }
    }
    this.isClear = false;
  }

  /** What is in substitutions is a command of its own; of variables only the folders are known. */
  #expansion(sign: string): void {
    const rest = this.#text.slice(this.#at);
    const folder = /^\$(?:(HOME|PWD)(?![A-Za-z0-9_])|\{(HOME|PWD)\})/.exec(rest);
    if (folder !== null) {
      const { userHome, cwd } = this.#options;
      this.#add((folder[1] ?? folder[2]) === "HOME" ? userHome : cwd);
      this.#at += folder[0].length;
      return;
    }
    if (sign === "$" && !/^\$[A-Za-z0-9_{('"@*#?$!-]/.test(rest)) {
      this.#add(sign);
      this.#at += 1;
      return;
    }
    this.isClear = false;
    const inner = sign === "`" ? /^`([^`]*)`?/.exec(rest) : undefined;
    const end = rest.startsWith("$(") ? closingOf(rest) : -1;
    if (inner !== null && inner !== undefined) {
      this.#nested(inner[1] ?? "");
      this.#at += inner[0].length;
    } else if (end > 0) {
      this.#nested(rest.slice(2, end));
      this.#at += end + 1;
    } else this.#at += /^\$(?:\{[^}]*\}?|[A-Za-z_][A-Za-z0-9_]*|.)?/.exec(rest)?.[0].length ?? 1;
    this.#add("");
  }

  #nested(command: string): void {
    if (this.#depth >= deepest) return;
    const { parts } = splitCommand(command, this.#options, this.#depth + 1);
    for (const part of parts) this.#parts.push(part);
  }

  #endWord(): void {
    if (this.#word === undefined) return;
    if (this.#isTarget) this.#targets.push(this.#word);
    else if (this.#words.length > 0 || !(openers.has(this.#word) || /^[A-Za-z_]\w*\+?=/.test(this.#word)))
      this.#words.push(this.#word);
    else if (/=/.test(this.#word)) this.#targets.push(this.#word.slice(this.#word.indexOf("=") + 1));
    this.#isTarget = false;
    this.#word = undefined;
  }

  #endPart(): void {
    this.#endWord();
    if (this.#words.length > 0 || this.#targets.length > 0)
      this.#parts.push({ words: this.#words, targets: this.#targets });
    this.#words = [];
    this.#targets = [];
    this.#isTarget = false;
  }
}

/** Where `$(` closes; -1 when it does not. */
function closingOf(text: string): number {
  let open = 0;
  for (let at = 1; at < text.length; at += 1) {
    if (text[at] === "(") open += 1;
    if (text[at] === ")") open -= 1;
    if (open === 0) return at;
  }
  return -1;
}
