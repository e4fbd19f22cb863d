import { createWriteStream } from "node:fs";
import path from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { messageOf, RequestError } from "../errors.js";
import { makeFolder } from "../util/files/make-folder.js";

/** Upper bounds of what is taken in from elsewhere. */
export interface TakeLimits {
  readonly files: number;
  /** Of all files together, as they are once unpacked. */
  readonly bytes: number;
}

/**
 * Unpacks a zip into a folder. Names that lead out of it, links, encrypted entries and whatever is larger than the limits, as it
 * really is and not as it says, are refused; what was written until then stays for the caller to remove.
 *
 * @throws {RequestError} 400 with a sentence for the person who gave the file
 */
export async function unzip(file: string, folder: string, limits: TakeLimits): Promise<void> {
  const yauzl = await import("yauzl");
  let files = 0;
  let bytes = 0;
  const count = (chunk: number): void => {
    bytes += chunk;
    if (bytes > limits.bytes) throw refused(file, `it holds more than ${limits.bytes / 1_048_576} MB`);
  };
  const zip = await yauzl
    .openPromise(file, { strictFileNames: true, validateEntrySizes: true, decodeStrings: true })
    .catch((error: unknown) => {
      throw refused(file, messageOf(error));
    });
  try {
    for await (const entry of zip.eachEntry()) {
      if (++files > limits.files) throw refused(file, `it holds more than ${limits.files} files`);
      const target = path.join(folder, entry.fileName);
      if (isOutside(folder, target)) throw refused(file, `${entry.fileName} leads out of it`);
      if (isLink(entry.externalFileAttributes)) throw refused(file, `${entry.fileName} is a link`);
      if (entry.isEncrypted()) throw refused(file, "it is encrypted");
      if (entry.fileName.endsWith("/")) {
        await makeFolder(target, 0o777);
        continue;
      }
      await makeFolder(path.dirname(target), 0o777);
      const bounded = new Transform({
        transform(chunk: Buffer, _encoding, done) {
          try {
            count(chunk.length);
            done(null, chunk);
          } catch (error) {
            done(error instanceof Error ? error : new Error(String(error)));
          }
        },
      });
      // `wx`: the same name twice would put a second file behind what was looked at.
      await pipeline(
        await zip.openReadStreamPromise(entry),
        bounded,
        createWriteStream(target, { flags: "wx", mode: 0o644 }),
      );
    }
  } catch (error) {
    throw error instanceof RequestError ? error : refused(file, messageOf(error));
  } finally {
    zip.close();
  }
}

function isOutside(folder: string, target: string): boolean {
  return target !== folder && !target.startsWith(folder.endsWith(path.sep) ? folder : folder + path.sep);
}

/** The upper half is the mode of the file on Unix. */
function isLink(attributes: number): boolean {
  return ((attributes >>> 16) & 0o170000) === 0o120000;
}

function refused(file: string, why: string): RequestError {
  return new RequestError(`${path.basename(file)} is not unpacked: ${why}.`, { status: 400, code: "bad_request" });
}
