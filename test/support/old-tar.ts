/** An archive block by block, as maxclaw wrote it by itself before: what is crafted can be wrong on purpose. */
interface TarEntry {
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

const blockBytes = 512;

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
