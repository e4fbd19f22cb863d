import { existsSync } from "node:fs";
import { EngineError } from "../../errors.js";
import { codeOf, pathOf } from "../../util/error-code.js";
import { reasonOf } from "../../util/files/system-fault.js";

/**
 * Says what to do about a file or folder that a start needs and the system does not give. Other errors stay as they are.
 * `path`: what it is about, where the error does not name something that is there.
 */
export function toStartFailure(path: string, error: unknown): unknown {
  const code = codeOf(error);
  if (error instanceof EngineError || code === undefined) return error;
  const advice = adviceFor(code);
  const named = pathOf(error);
  const what = named !== undefined && existsSync(named) ? named : path;
  return new EngineError(`${what} cannot be used: ${reasonOf(error)}. ${advice} Nothing that was stored is lost.`, {
    kind: "persistence",
    cause: error,
    retryable: false,
  });
}

function adviceFor(code: string): string {
  switch (code) {
    case "ENOSPC":
    case "EDQUOT":
      return "Free some space, then start again.";
    case "EACCES":
    case "EPERM":
      return "Give the account that runs maxclaw the right to read and write it, then start again.";
    case "EROFS":
      return "Mount it for writing, then start again.";
    case "EISDIR":
    case "ERR_FS_EISDIR":
    case "ELOOP":
    case "ENXIO":
      return "Move it away, then start again.";
    default:
      return "Check the disk, then start again.";
  }
}
