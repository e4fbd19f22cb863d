/** The opening line of a code block. */
export interface Fence {
  readonly indent: string;
  /** At least three backticks or tildes. */
  readonly marker: string;
  /** What follows the marker: the language. */
  readonly info: string;
}

// A list item may begin with a code block: "- ```js".
const opening = /^([ \t]*)((?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})([^\n]*)$/;

/** A code block that its content cannot close. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

/** The code block that a line opens. */
export function openedBy(line: string): Fence | undefined {
  const match = opening.exec(line);
  if (match === null) return undefined;
  const [, spaces = "", bullet = "", marker = "", info = ""] = match;
  if (marker.startsWith("`") && info.includes("`")) return undefined;
  return { indent: spaces + " ".repeat(bullet.length), marker, info: info.trim() };
}

/** Whether a line ends this code block. */
export function isClosedBy(fence: Fence, line: string): boolean {
  const text = line.trim();
  return text.length >= fence.marker.length && text === (fence.marker[0] ?? "").repeat(text.length);
}

/** The code block that is open at the end of a text. */
export function fenceAfter(text: string): Fence | undefined {
  let open: Fence | undefined;
  for (const line of text.split("\n")) {
    if (open === undefined) open = openedBy(line);
    else if (isClosedBy(open, line)) open = undefined;
  }
  return open;
}

export function closingLine(fence: Fence): string {
  return fence.indent + fence.marker;
}

/**
 * What goes on after a cut, with its code block opened again at the left margin. There the block no longer is in
 * its list, so that its lines lose the list's indentation; else the closing line would not be seen as one.
 */
export function reopen(fence: Fence, rest: string): { readonly text: string; readonly repeated: number } {
  const lines = rest.split("\n");
  const first = lines.findIndex((line) => line.trim() !== "");
  if (first !== -1 && isClosedBy(fence, lines[first] ?? "")) {
    return {
      text: lines
        .slice(first + 1)
        .join("\n")
        .replace(/^\s+/, ""),
      repeated: 0,
    };
  }
  if (fence.indent !== "") {
    for (const [index, line] of lines.entries()) {
      lines[index] = dedent(line, fence.indent.length);
      if (isClosedBy(fence, line)) break;
    }
  }
  const language = (fence.info.split(/\s/, 1)[0] ?? "").slice(0, 24);
  const opening = `${fence.marker.slice(0, 16)}${language}\n`;
  return { text: opening + lines.join("\n"), repeated: opening.length };
}

function dedent(line: string, columns: number): string {
  let at = 0;
  while (at < columns && (line[at] === " " || line[at] === "\t")) at += 1;
  return line.slice(at);
}
