import { StringDecoder } from "node:string_decoder";

/** What is kept, as whole lines: a key that is cut in half would not be known for one. */
const keptLines = 40;
const longestLine = 4096;
/** The end of a line that was cut may be the beginning of a key. */
const doubtful = 1024;

/** The last lines that a server has written to its stderr, without secrets and without what steers a terminal. */
export class StderrTail {
  readonly #mask: (text: string) => string;
  readonly #decoder = new StringDecoder("utf8");
  #lines: string[] = [];
  #open = "";
  #isCut = false;

  constructor(mask: (text: string) => string) {
    this.#mask = mask;
  }

  push(chunk: Buffer): void {
    const [first = "", ...others] = this.#decoder.write(chunk).split("\n");
    this.#add(first);
    // Of a flood only the end is looked at.
    const recent = others.slice(-keptLines);
    if (others.length > 0) this.#close();
    for (const [index, line] of recent.entries()) {
      this.#add(line);
      if (index < recent.length - 1) this.#close();
    }
  }

  /** The line that a person can make something of: the first that names an error, else the last. */
  said(): string {
    const open = this.#shown();
    const lines = [...this.#lines, open].filter((line) => line !== "");
    const error = lines.find((line) => /^(\w{0,60}Error|fatal|npm err(or|!) (?!code ))\b/i.test(line));
    return (error ?? lines.at(-1) ?? "").slice(0, 300);
  }

  #add(text: string): void {
    this.#isCut ||= this.#open.length + text.length > longestLine;
    this.#open = (this.#open + text.slice(0, longestLine)).slice(0, longestLine);
  }

  #close(): void {
    this.#lines = [...this.#lines, this.#shown()].slice(-keptLines);
    this.#open = "";
    this.#isCut = false;
  }

  #shown(): string {
    const whole = this.#mask(this.#open);
    const kept = this.#isCut ? whole.slice(0, longestLine - doubtful) : whole;
    return kept.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").trim();
  }
}
