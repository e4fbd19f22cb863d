import { PathChangedError } from "../../policy/paths.js";
import { failed, type ToolResult } from "../tool.js";

const sentences: Readonly<Record<string, (shown: string) => string>> = {
  ENOENT: (shown) => `${shown} does not exist.`,
  ENOTDIR: (shown) => `A part of ${shown} is a file, not a folder.`,
  EISDIR: (shown) => `${shown} is a folder.`,
  EEXIST: (shown) => `A part of ${shown} is a file, not a folder.`,
  EACCES: (shown) => `The system does not allow opening ${shown}.`,
  EPERM: (shown) => `The system does not allow opening ${shown}.`,
  EROFS: (shown) => `${shown} is on a disk that can only be read.`,
  ENAMETOOLONG: () => "The path is too long.",
  ENOSPC: (shown) => `The disk is full; ${shown} was not changed.`,
  EDQUOT: (shown) => `The disk is full; ${shown} was not changed.`,
  EFBIG: (shown) => `The file would be too large; ${shown} was not changed.`,
  ENXIO: (shown) => `${shown} is not a regular file.`,
  EMFILE: () => "Too many files are open; try again.",
};

/** A failure of the file system as the model reads it. What is none of its known failures is thrown again. */
export function fileFailure(error: unknown, shown: string): ToolResult {
  if (error instanceof PathChangedError) return failed(`${shown} changed while it was being opened; nothing was done.`);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const sentence = sentences[code];
  if (sentence === undefined) throw error;
  return failed(sentence(shown));
}
