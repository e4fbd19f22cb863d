/**
 * Joins the lines of `format=flowed` (RFC 3676) that its author did not break: only such as are quoted alike, so that an
 * answer below a quote never becomes part of it.
 */
export function unflow(text: string, hasDelSp: boolean): string {
  const joined: string[] = [];
  let open: { depth: number; parts: string[] } | undefined;
  const close = (): void => {
    if (open !== undefined)
      joined.push(`${open.depth === 0 ? "" : `${">".repeat(open.depth)} `}${open.parts.join("")}`);
    open = undefined;
  };
  for (const line of text.split(/\r?\n/)) {
    const marks = /^>*/.exec(line)?.[0].length ?? 0;
    const stuffed = line.slice(marks);
    const words = stuffed.startsWith(" ") ? stuffed.slice(1) : stuffed;
    const isSignature = words === "-- ";
    if (open !== undefined && (open.depth !== marks || isSignature)) close();
    open ??= { depth: marks, parts: [] };
    const isSoft = words.endsWith(" ") && !isSignature;
    open.parts.push(isSoft && hasDelSp ? words.slice(0, -1) : words);
    if (!isSoft) close();
  }
  close();
  return joined.join("\n");
}
