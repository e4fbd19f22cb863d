import { print } from "./output.js";

/** A text as a picture for the camera of a phone. Light squares are drawn, so that a dark terminal shows dark on light. */
export async function printQr(text: string): Promise<void> {
  const { renderUnicodeCompact } = await import("uqr");
  print(renderUnicodeCompact(text, { ecc: "L", border: 2 }));
}
