/** A piece of what the model says, by what it is. */
export interface SaidPiece {
  readonly kind: "text" | "thinking";
  readonly text: string;
}

/** The content of a message: text, or parts as Mistral and others send them. Parts of other kinds say nothing. */
export function piecesOf(content: unknown, kind: SaidPiece["kind"] = "text"): readonly SaidPiece[] {
  if (typeof content === "string") return content === "" ? [] : [{ kind, text: content }];
  if (Array.isArray(content)) return content.flatMap((part) => piecesOf(part, kind));
  if (typeof content !== "object" || content === null) return [];
  const part: Readonly<Record<string, unknown>> = { ...content };
  const own = typeof part.type === "string" && /thinking|reasoning|thought/.test(part.type) ? "thinking" : kind;
  for (const key of ["text", "thinking", "reasoning", "summary", "content"]) {
    const pieces = piecesOf(part[key], own);
    if (pieces.length > 0) return pieces;
  }
  return [];
}
