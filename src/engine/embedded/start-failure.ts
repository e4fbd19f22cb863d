import { EngineError } from "../../errors.js";
import { codeOf } from "../../util/error-code.js";
import { reasonOf } from "../../util/files/system-fault.js";

/** Says what to do about a file or folder that a start needs and the system does not give. Other errors stay as they are. */
export function toStartFailure(path: string, error: unknown): unknown {
  const code = codeOf(error);
  if (error instanceof EngineError || code === undefined) return error;
  const advice = adviceFor(code);
  return new EngineError(`${path} cannot be used: ${reasonOf(error)}. ${advice} Nothing that was stored is lost.`, {
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
      return "Move it away, then start again.";
    default:
      return "Check the disk, then start again.";
  }
}
