export interface Header {
  /** In lower case. */
  readonly name: string;
  /** Unfolded, not decoded. */
  readonly value: string;
}

/** The headers of a mail, and why two programs may read them differently. */
export interface HeaderLines {
  readonly headers: readonly Header[];
  /**
   * Undefined where each line is a header or continues one, as RFC 5322 says. Else who checks a signature and who reads
   * the mail may find two authors in it.
   */
  readonly fault: string | undefined;
}

const longestBlock = 64 * 1024;
const mostLines = 2000;
const mostSignatures = 10;
const longestSignature = 8 * 1024;
const header = /^([!-9;-~]+)[ \t]*:(.*)$/s;

/** The headers at the beginning of a mail, without the blank line behind them. */
export function headerBlock(source: Buffer): Buffer {
  const ends = ["\r\n\r\n", "\n\r\n", "\n\n"].map((end) => source.indexOf(end)).filter((at) => at !== -1);
  return ends.length === 0 ? source : source.subarray(0, Math.min(...ends));
}

export function readHeaderLines(block: Buffer): HeaderLines {
  // Latin-1 keeps each byte: what is encoded, or plain UTF-8, is decoded by who reads the value.
  const lines = block
    .subarray(0, longestBlock)
    .toString("latin1")
    .split("\n")
    .map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
  const found: { readonly name: string; readonly parts: string[] }[] = [];
  const faults: string[] = [];
  if (block.length > longestBlock || lines.length > mostLines) faults.push("its headers are too long");
  for (const [at, line] of lines.slice(0, mostLines).entries()) {
    const [, name = "", value = ""] = header.exec(line) ?? [];
    const last = found.at(-1);
    if (/[\r\0]/.test(line)) faults.push("its headers hold a broken line end");
    if (/^[ \t]/.test(line) && last !== undefined) last.parts.push(line.trimStart());
    else if (name !== "") found.push({ name: name.toLowerCase(), parts: [value] });
    // What a Unix mailbox puts above a mail.
    else if (line !== "" && !(at === 0 && /^>?From [^:]*/.test(line)))
      faults.push("one of its header lines is not valid");
  }
  const headers = found.map(({ name, parts }) => ({ name, value: parts.join(" ").trim() }));
  const signatures = headers.filter(({ name }) => name === "dkim-signature");
  if (signatures.length > mostSignatures) faults.push(`it has more than ${mostSignatures} signatures`);
  if (signatures.some(({ value }) => value.length > longestSignature)) faults.push("a signature of it is too long");
  return { headers, fault: faults[0] };
}
