export type ImageType = "image/jpeg" | "image/png" | "image/gif" | "image/webp";

/** The type of a picture that models can look at, by how its file begins. */
export function imageTypeOf(head: Uint8Array): ImageType | undefined {
  const start = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, 12)).toString("latin1");
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(start)) return "image/gif";
  return start.startsWith("RIFF") && start.slice(8) === "WEBP" ? "image/webp" : undefined;
}
