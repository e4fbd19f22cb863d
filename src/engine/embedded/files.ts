import * as fs from "node:fs";
import { notPlain, withPath } from "../../util/error-code.js";
import { readOnly } from "../../util/files/real-path.js";

/** Writes all bytes to a file opened for appending. Throws with part of them written when the disk is full. */
export function writeFully(fd: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) done += fs.writeSync(fd, bytes, done, bytes.length - done);
}

/** The bytes of a file. @throws also for a pipe or a device where the file should be: a read would wait without end */
export function readPlain(path: string): Buffer {
  const fd = fs.openSync(path, readOnly);
  try {
    const found = fs.fstatSync(fd);
    if (!found.isFile()) throw notPlain(path, found);
    return withPath(path, () => fs.readFileSync(fd));
  } finally {
    fs.closeSync(fd);
  }
}
