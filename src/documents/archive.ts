import type { Readable } from "node:stream";
import { type Entry, fromBuffer, type ZipFile } from "yauzl";
import { UnreadableError } from "./unreadable.js";

/** The files of an Office document, which is a zip archive. */
export interface Archive {
  has(name: string): boolean;
  names(): readonly string[];
  /** Gives a file's text piece by piece until `isEnough`; nothing for a file that is not there. */
  read(name: string, onText: (text: string) => void, isEnough?: () => boolean): Promise<void>;
}

const maxEntries = 10_000;
/** Of all files together, unpacked: a small archive may unpack to any size. */
const maxUnpacked = 200 * 1024 * 1024;

/** @throws {UnreadableError} for what is not an archive, is encrypted, or unpacks to more than 200 MB */
export async function openArchive(bytes: Uint8Array): Promise<Archive> {
  const zip = await openZip(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const entries = await listEntries(zip);
  let unpacked = 0;
  return {
    has: (name) => entries.has(name),
    names: () => [...entries.keys()],
    async read(name, onText, isEnough = () => false) {
      const entry = entries.get(name);
      if (entry === undefined) return;
      if (entry.isEncrypted()) throw new UnreadableError("is protected by a password.");
      const stream = await openEntry(zip, entry);
      const decoder = new TextDecoder();
      try {
        for await (const chunk of stream) {
          if (!(chunk instanceof Uint8Array)) continue;
          unpacked += chunk.length;
          if (unpacked > maxUnpacked) throw new UnreadableError("unpacks to more than 200 MB, which is not read.");
          onText(decoder.decode(chunk, { stream: true }));
          if (isEnough()) return;
        }
        onText(decoder.decode());
      } catch (error) {
        throw error instanceof UnreadableError ? error : new UnreadableError("is damaged and cannot be read.");
      } finally {
        stream.destroy();
      }
    },
  };
}

function openZip(buffer: Buffer): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    fromBuffer(buffer, { lazyEntries: true }, (error, zip) => {
      if (error === null) resolve(zip);
      else reject(new UnreadableError("is damaged and cannot be read."));
    });
  });
}

function listEntries(zip: ZipFile): Promise<ReadonlyMap<string, Entry>> {
  return new Promise((resolve, reject) => {
    const entries = new Map<string, Entry>();
    zip.on("entry", (entry: Entry) => {
      entries.set(entry.fileName, entry);
      if (entries.size > maxEntries) reject(new UnreadableError("holds more than 10,000 files, which is not read."));
      else zip.readEntry();
    });
    zip.once("end", () => resolve(entries));
    zip.once("error", () => reject(new UnreadableError("is damaged and cannot be read.")));
    zip.readEntry();
  });
}

function openEntry(zip: ZipFile, entry: Entry): Promise<Readable> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => {
      if (error === null) resolve(stream);
      else reject(new UnreadableError("is damaged and cannot be read."));
    });
  });
}
