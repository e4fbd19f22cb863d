/** Documents whose text can be read. */
export type DocumentKind = "pdf" | "office";

/** What kind of document begins like this; `old`: an Office file of before 2007, or one behind a password. */
export function documentKindOf(head: Uint8Array): DocumentKind | "old" | undefined {
  const start = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, 1024));
  if (start.includes("%PDF-")) return "pdf";
  if (start.subarray(0, 4).equals(Buffer.from("PK\x03\x04", "latin1"))) return "office";
  return start.subarray(0, 8).equals(Buffer.from("d0cf11e0a1b11ae1", "hex")) ? "old" : undefined;
}
