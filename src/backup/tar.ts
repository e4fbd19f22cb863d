/** One entry of an archive: a file, a folder or a symbolic link. */
export interface TarEntry {
  /** From the archive's root, with slashes. */
  readonly path: string;
  readonly type: "file" | "folder" | "link";
  /** Of a file's content. */
  readonly bytes: number;
  readonly mode: number;
  /** Unix ms. */
  readonly modifiedAt: number;
  /** Where a link points to. */
  readonly target?: string | undefined;
}

export const blockBytes = 512;

const typeFlags = { file: "0", folder: "5", link: "2" } as const;
/** What the classic header has room for. */
const most = { path: 100, target: 100, bytes: 8 ** 11 - 1 } as const;

/** Fills the content of this length up to a whole block. */
export function padding(bytes: number): Buffer {
  return Buffer.alloc((blockBytes - (bytes % blockBytes)) % blockBytes);
}

/** What ends an archive. */
export function endOfArchive(): Buffer {
  return Buffer.alloc(2 * blockBytes);
}

/** The header of an entry (POSIX ustar), behind the pax records of what does not fit into it. */
export function encodeHeader(entry: TarEntry): Buffer {
  const { path, target = "", bytes } = entry;
  const records = [
    ...(needsRecord(path, most.path) ? [paxRecord("path", path)] : []),
    ...(needsRecord(target, most.target) ? [paxRecord("linkpath", target)] : []),
    ...(bytes > most.bytes ? [paxRecord("size", String(bytes))] : []),
  ];
  const header = block({ ...entry, flag: typeFlags[entry.type], bytes: bytes > most.bytes ? 0 : bytes });
  if (records.length === 0) return header;
  const body = Buffer.from(records.join(""));
  const about = { ...entry, path: "pax", target: "", bytes: body.length, flag: "x", mode: 0o600 };
  return Buffer.concat([block(about), body, padding(body.length), header]);
}

function needsRecord(text: string, limit: number): boolean {
  return Buffer.byteLength(text) > limit || !/^[\x20-\x7e]*$/.test(text);
}

function paxRecord(name: string, value: string): string {
  const rest = ` ${name}=${value}\n`;
  const restBytes = Buffer.byteLength(rest);
  // The length counts its own digits.
  let length = restBytes + String(restBytes).length;
  length = restBytes + String(length).length;
  return `${length}${rest}`;
}

function block({
  path,
  target = "",
  bytes,
  mode,
  modifiedAt,
  flag,
}: Omit<TarEntry, "type"> & { readonly flag: string }): Buffer {
  const header = Buffer.alloc(blockBytes);
  const octal = (value: number, offset: number, length: number): void => {
    header.write(`${value.toString(8).padStart(length - 1, "0")}\0`, offset, "latin1");
  };
  header.write(cut(path, most.path), 0, "latin1");
  octal(mode & 0o7777, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(bytes, 124, 12);
  octal(Math.max(0, Math.floor(modifiedAt / 1000)), 136, 12);
  header.fill(0x20, 148, 156);
  header.write(flag, 156, "latin1");
  header.write(cut(target, most.target), 157, "latin1");
  header.write("ustar\u000000", 257, "latin1");
  header.write(`${checksumOf(header).toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return header;
}

function cut(text: string, limit: number): string {
  return Buffer.from(text).subarray(0, limit).toString("latin1");
}

/** The sum of the header's bytes, its own field counted as blanks. */
function checksumOf(header: Buffer): number {
  let sum = 0;
  for (const [index, byte] of header.entries()) sum += index >= 148 && index < 156 ? 0x20 : byte;
  return sum;
}

/** A header as it stands: `flag` says what it is about. Undefined for the block of zeros that ends an archive. */
export interface RawHeader extends Omit<TarEntry, "type"> {
  readonly flag: string;
}

/** @throws {Error} when the block is no header */
export function decodeHeader(header: Buffer): RawHeader | undefined {
  if (header.every((byte) => byte === 0)) return undefined;
  const text = (offset: number, length: number): string => {
    const field = header.subarray(offset, offset + length);
    const end = field.indexOf(0);
    return field.toString("utf8", 0, end === -1 ? length : end);
  };
  const octal = (offset: number, length: number): number => Number.parseInt(text(offset, length).trim() || "0", 8);
  if (octal(148, 8) !== checksumOf(header)) throw new Error("a header is damaged");
  const prefix = text(345, 155);
  return {
    path: prefix === "" ? text(0, 100) : `${prefix}/${text(0, 100)}`,
    flag: text(156, 1) || "0",
    bytes: octal(124, 12),
    mode: octal(100, 8),
    modifiedAt: octal(136, 12) * 1000,
    target: text(157, 100),
  };
}

/** The records of a pax header by name. */
export function parsePax(body: Buffer): ReadonlyMap<string, string> {
  const records = new Map<string, string>();
  for (let offset = 0; offset < body.length; ) {
    const blank = body.indexOf(0x20, offset);
    const length = Number(body.toString("latin1", offset, blank));
    if (blank === -1 || !Number.isSafeInteger(length) || length <= 0) throw new Error("a header is damaged");
    const record = body.toString("utf8", blank + 1, offset + length - 1);
    const equals = record.indexOf("=");
    records.set(record.slice(0, equals), record.slice(equals + 1));
    offset += length;
  }
  return records;
}
