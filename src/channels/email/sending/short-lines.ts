import { Transform } from "node:stream";

/** Mail servers allow 998 characters. Who checks a signature keeps a line whole, and looks at it again with each piece. */
const longestLine = 256 * 1024;

/** Passes bytes on, and breaks a line that is far too long: no signature of it holds then. */
export function shortLines(): Transform {
  let length = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const end = chunk.lastIndexOf(10);
      length = end === -1 ? length + chunk.length : chunk.length - end - 1;
      const isTooLong = length > longestLine;
      if (isTooLong) length = 0;
      done(null, isTooLong ? Buffer.concat([chunk, Buffer.from("\r\n")]) : chunk);
    },
  });
}
