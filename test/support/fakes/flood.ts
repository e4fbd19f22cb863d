import type { ServerResponse } from "node:http";

const hundredMegabytes = 100 * 1024 * 1024;

/** Writes pieces until 100 MB are out or nobody reads any more. `onSent` is told the bytes of each. */
export async function writeFlood(
  response: ServerResponse,
  pieces: Iterable<string>,
  onSent: (bytes: number) => void = () => {},
): Promise<void> {
  let sent = 0;
  const closed = new Promise((resolve) => response.once("close", resolve));
  for (const piece of pieces) {
    if (sent > hundredMegabytes || response.destroyed) break;
    const bytes = Buffer.byteLength(piece);
    sent += bytes;
    onSent(bytes);
    const drained = new Promise((resolve) => response.once("drain", resolve));
    if (!response.write(piece)) await Promise.race([drained, closed]);
    response.removeAllListeners("drain");
  }
  response.end();
}

export function* again(piece: string, first = ""): Generator<string> {
  if (first !== "") yield first;
  for (;;) yield piece;
}

/** A frame of OpenAI's stream with this text in it. */
export function saysOpenAI(text: string): string {
  return `data: ${JSON.stringify({ choices: [{ delta: { content: text } }] })}\n\n`;
}
