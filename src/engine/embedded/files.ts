import * as fs from "node:fs";

/** Writes all bytes to a file opened for appending. Throws with part of them written when the disk is full. */
export function writeFully(fd: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) done += fs.writeSync(fd, bytes, done, bytes.length - done);
}
