import { randomBytes } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { open, rename, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Script } from "node:vm";
import { crc32 } from "node:zlib";
import { makeFolder } from "../../util/files/make-folder.js";
import { codeFolder, isOnlyOurs, isSafeFolder } from "./code-folder.js";

export interface CompiledScript {
  readonly name: string;
  /** Of its source. */
  readonly checksum: number;
  readonly script: Script;
}

interface Entry {
  /** Of the source that it was compiled from. */
  readonly source: number;
  readonly code: Buffer;
}

const fileName = "program.bin";
const firstLine = "maxclaw code 1";
/** A disk that has less left needs it for the journal. */
const leaveFree = 64 * 1024 * 1024;

/**
 * What V8 has compiled of the program's scripts, also of functions that it compiles when they are called first: one file in the home. It
 * is code, so it is used only where nobody else can have written it. V8 itself refuses what another version of it, or the same with other
 * flags, has made; it does not notice damage, and of the source it compares the length alone: checksums do both.
 */
export class KeptCode {
  readonly #home: string;
  readonly #entries: Map<string, Entry>;

  private constructor(home: string, entries: Map<string, Entry>) {
    this.#home = home;
    this.#entries = entries;
  }

  /** Of a home that does not exist, or in which others can write, nothing is kept. */
  static read(home: string): KeptCode | undefined {
    return isSafeFolder(home) ? new KeptCode(home, readEntries(join(codeFolder(home), fileName))) : undefined;
  }

  find(name: string, source: number): Buffer | undefined {
    const entry = this.#entries.get(name);
    return entry?.source === source ? entry.code : undefined;
  }

  /** Frees the memory that it takes. */
  forget(): void {
    this.#entries.clear();
  }

  /**
   * Replaces the file. Between two scripts `pause` lets others work. What fails, as on a full disk or in a home that is read-only, only
   * leaves the next start slower: nothing is thrown.
   */
  async write(scripts: readonly CompiledScript[], pause: () => Promise<void>): Promise<void> {
    const folder = codeFolder(this.#home);
    const made = join(folder, `.program-${randomBytes(6).toString("hex")}`);
    try {
      await makeFolder(folder);
      if (!isSafeFolder(this.#home) || !(await hasRoom(folder))) return;
      await using file = await open(made, "wx", 0o600);
      const parts: Buffer[] = [];
      const lines = [firstLine];
      for (const { name, checksum, script } of scripts) {
        const code = script.createCachedData();
        parts.push(code);
        lines.push(`${name} ${checksum} ${code.length} ${crc32(code)}`);
        await pause();
      }
      await file.writeFile(Buffer.concat([Buffer.from(`${lines.join("\n")}\n\n`, "latin1"), ...parts]));
      await rename(made, join(folder, fileName));
    } catch {
      await rm(made, { force: true }).catch(() => undefined);
    }
  }
}

async function hasRoom(folder: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize > leaveFree;
}

function readEntries(path: string): Map<string, Entry> {
  try {
    return parseEntries(readOwn(path));
  } catch {
    // It is not there, or cannot be read: the program is compiled, as without it.
    return new Map();
  }
}

function readOwn(path: string): Buffer {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const found = fstatSync(file);
    return found.isFile() && isOnlyOurs(found) ? readFileSync(file) : Buffer.alloc(0);
  } finally {
    closeSync(file);
  }
}

/** Lines of `name source-checksum bytes checksum` and an empty one; then the code of each, one after the other. Damaged code is left out. */
function parseEntries(bytes: Buffer): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  const end = bytes.indexOf("\n\n");
  const [first, ...lines] = bytes.toString("latin1", 0, Math.max(end, 0)).split("\n");
  if (first !== firstLine) return entries;
  let at = end + 2;
  for (const line of lines) {
    const [name = "", source, length, checksum] = line.split(" ");
    const code = bytes.subarray(at, at + Number(length));
    at += Number(length);
    if (crc32(code) === Number(checksum)) entries.set(name, { source: Number(source), code });
  }
  return entries;
}
