/**
 * Cuts a stream of bytes into lines without their ends. Holds at most `maxBytes` of an unfinished one; more than that
 * calls `onTooLong` once and drops everything that follows.
 */
export function createLineReader(
  maxBytes: number,
  onLine: (line: string) => void,
  onTooLong: () => void,
): (chunk: Buffer) => void {
  let pieces: Buffer[] = [];
  let held = 0;
  let isBroken = false;
  const keep = (piece: Buffer): boolean => {
    if (held + piece.length > maxBytes) {
      isBroken = true;
      pieces = [];
      onTooLong();
      return false;
    }
    pieces.push(piece);
    held += piece.length;
    return true;
  };
  return (chunk) => {
    let start = 0;
    while (!isBroken) {
      const end = chunk.indexOf(0x0a, start);
      if (end === -1) {
        if (start < chunk.length) keep(chunk.subarray(start));
        return;
      }
      if (!keep(chunk.subarray(start, end))) return;
      const line = Buffer.concat(pieces, held).toString("utf8").replace(/\r$/, "");
      pieces = [];
      held = 0;
      start = end + 1;
      onLine(line);
    }
  };
}
