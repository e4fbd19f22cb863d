import { existsSync, lstatSync, statSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, isAbsolute } from "node:path";
import { messageOf } from "../../errors.js";
import { statusSentence } from "../../util/words/status-sentences.js";
import { codeOf, pathOf } from "../error-code.js";

/** What the system has refused, in words. */
interface SystemFault {
  /** Absent where the system does not say it. */
  readonly path: string | undefined;
  /** Half a sentence. */
  readonly reason: string;
  /** An order, as a sentence. */
  readonly advice: string;
}

/** What happened, to which path, and what to do; undefined for what is not an error of the file system. */
export function systemSentence(error: unknown): string | undefined {
  const fault = systemFault(error);
  if (fault === undefined) return undefined;
  const { path, reason, advice } = fault;
  const what = path === undefined ? "A file" : path;
  return `${what} cannot be used: ${reason}. ${advice}`;
}

/** Why a thing could not be done: in words where the file system refused it, else the message of the error. */
export function reasonOf(error: unknown): string {
  return systemFault(error)?.reason ?? messageOf(error);
}

/** What to do about what the file system refused, as a sentence; undefined for anything else. */
export function adviceOf(error: unknown): string | undefined {
  return systemFault(error)?.advice;
}

/** The account that runs this, as people know it. */
export function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    // It has a number only, as in many containers.
    return `number ${process.getuid?.()}`;
  }
}

function systemFault(error: unknown): SystemFault | undefined {
  const code = codeOf(error);
  if (code === undefined || !(error instanceof Error)) return undefined;
  const path = pathOf(error);
  switch (code) {
    case "ENOENT": {
      // A program that was not found has no folder.
      if (path === undefined || !isAbsolute(path)) break;
      const folder = dirname(path);
      if (existsSync(folder)) return { path, reason: statusSentence("is_absent"), advice: "Check the path." };
      return { path, reason: statusSentence("no_folder", { folder }), advice: "Make it, or check the path." };
    }
    case "ENOTDIR":
    case "EEXIST": {
      if (path !== undefined && isDeadLink(path))
        return { path, reason: statusSentence("dead_link"), advice: "Mount it, or mend the link." };
      const file = path === undefined ? undefined : fileIn(path);
      if (file === undefined) break;
      return { path: file, reason: statusSentence("is_file"), advice: "Move it away." };
    }
    case "EACCES":
    case "EPERM":
      return {
        path,
        reason: statusSentence("no_right", { account: accountName() }),
        advice: "Run the command as the account that owns it, or give this account the right.",
      };
    case "EROFS":
      return { path, reason: statusSentence("read_only"), advice: "Mount it for writing, then try again." };
    case "ENOSPC":
    case "EDQUOT":
      return { path, reason: statusSentence("disk_full"), advice: "Free some space, then try again." };
    case "EISDIR":
    case "ERR_FS_EISDIR":
      return { path, reason: statusSentence("is_folder"), advice: "Move it away." };
    case "ELOOP":
    case "ENXIO":
      return { path, reason: statusSentence("not_plain"), advice: "Move it away." };
    case "ENAMETOOLONG":
      return { path, reason: statusSentence("long_name"), advice: "Check the path." };
    case "EIO":
      return { path, reason: statusSentence("disk_failed"), advice: "Check the disk." };
    case "EMFILE":
    case "ENFILE":
      return { path, reason: statusSentence("many_files"), advice: "Raise the limit (ulimit -n), then try again." };
    default:
      break;
  }
  if (path === undefined) return undefined;
  return { path, reason: messageOf(error), advice: "Check the path and the disk." };
}

function isDeadLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink() && !existsSync(path);
  } catch {
    return false;
  }
}

/** What in a path is there and is not a folder. */
function fileIn(path: string): string | undefined {
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    try {
      return statSync(at).isDirectory() ? undefined : at;
    } catch {
      // It is further up.
    }
  }
  return undefined;
}
