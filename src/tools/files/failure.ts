import { codeOf } from "../../util/error-code.js";
import { LinkedFileError, PathChangedError } from "../../util/files/real-path.js";
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
  EAGAIN: (shown) => `${shown} is locked by another program; try again.`,
  EMFILE: () => "Too many files are open; try again.",
};

/** The same for what was to be read as a file. */
export function readFailure(error: unknown, shown: string): ToolResult {
  return codeOf(error) === "EISDIR" ? failed(`${shown} is a folder; use list_dir.`) : fileFailure(error, shown);
}

/** A failure of the file system as the model reads it. What is none of its known failures is thrown again. */
export function fileFailure(error: unknown, shown: string): ToolResult {
  if (error instanceof PathChangedError) return failed(`${shown} changed while it was being opened; nothing was done.`);
  if (error instanceof LinkedFileError)
    return failed(`${shown} has a second name (a hard link) that may be elsewhere. Copy it first and use the copy.`);
  const sentence = sentences[codeOf(error) ?? ""];
  if (sentence === undefined) throw error;
  return failed(sentence(shown));
}
