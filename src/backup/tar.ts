import type { Header } from "tar-stream";
import { z } from "zod";
import { withoutSlashes } from "../util/text/trim-where.js";

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

const types = { file: "file", folder: "directory", link: "symlink" } as const;
/** What the classic header has room for: more is written into a record before it. */
const most = { bytes: 8 ** 11 - 1, seconds: 2 ** 31 - 1 };
const exactTime = z.object({ mtime: z.coerce.number().transform((seconds) => seconds * 1000) });
/** A mode of 0 would count as one that is not given. */
const regular = 0o100000;

export function toHeader({
  path,
  type,
  bytes,
  mode,
  modifiedAt,
  target,
}: TarEntry): Partial<Header> & { name: string } {
  const seconds = Math.max(0, Math.floor(modifiedAt / 1000));
  const pax = {
    ...(bytes > most.bytes ? { size: String(bytes) } : {}),
    ...(seconds > most.seconds ? { mtime: String(seconds) } : {}),
  };
  return {
    name: path,
    type: types[type],
    size: bytes,
    mode: mode | regular,
    mtime: new Date(Math.min(seconds, most.seconds) * 1000),
    ...(target === undefined ? {} : { linkname: target }),
    ...(Object.keys(pax).length > 0 ? { pax } : {}),
  };
}

/** Undefined for something that a backup does not hold. */
export function toEntry({ name, type: named, size, mode, mtime, linkname, pax }: Header): TarEntry | undefined {
  const type = typeOf(named);
  if (type === undefined || !Number.isSafeInteger(size)) return undefined;
  return {
    path: withoutSlashes(name),
    type,
    bytes: type === "file" ? size : 0,
    mode,
    modifiedAt: exactTime.safeParse(pax).data?.mtime ?? mtime.getTime(),
    target: type === "link" ? linkname : undefined,
  };
}

function typeOf(named: Header["type"]): TarEntry["type"] | undefined {
  switch (named) {
    case "file":
      return "file";
    case "directory":
      return "folder";
    case "symlink":
      return "link";
    default:
      return undefined;
  }
}
