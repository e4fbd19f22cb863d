import { crc32, deflateRawSync } from "node:zlib";

export interface ZipEntry {
  readonly name: string;
  readonly content: string | Buffer;
  /** As on Unix, type bits included. */
  readonly mode?: number;
  /** The size that its header tells; by default the true one. */
  readonly claims?: number;
}

/** A zip with exactly these entries, also with names and sizes that no honest program writes. */
export function zipOf(entries: readonly ZipEntry[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content, mode = 0o100644, claims } of entries) {
    const data = Buffer.from(content);
    const packed = deflateRawSync(data);
    const bytes = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x0800, 2);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc32(data), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(claims ?? data.length, 18);
    common.writeUInt16LE(bytes.length, 22);
    const local = Buffer.concat([Buffer.from("PK\u0003\u0004"), common, bytes, packed]);
    const end = Buffer.alloc(14);
    end.writeUInt32LE((mode << 16) >>> 0, 6);
    end.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from("PK\u0001\u0002"), Buffer.from([20, 3]), common, end, bytes]));
    parts.push(local);
    offset += local.length;
  }
  const names = Buffer.concat(directory);
  const tail = Buffer.alloc(18);
  tail.writeUInt16LE(entries.length, 4);
  tail.writeUInt16LE(entries.length, 6);
  tail.writeUInt32LE(names.length, 8);
  tail.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, names, Buffer.from("PK\u0005\u0006"), tail]);
}
