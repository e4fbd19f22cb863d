import { closeSync, fstatSync, fsyncSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { withPath } from "../util/error-code.js";
import { makeFolderSync } from "../util/files/make-folder.js";
import { appendOnly } from "../util/files/real-path.js";

export interface LogFile {
  /** Appends at once. A line that the disk refuses is lost: a log must not stop what it tells about. */
  write(line: string): void;
  /** Waits for the disk. */
  flush(): void;
}

/**
 * Appends to a file of mode 0600 and creates its folder. When it is longer than `maxBytes` it becomes `<path>.1`, the one
 * before that `<path>.2`, and what was `<path>.2` goes. `onLost`: called with the reason when a line is lost, and then
 * not again before one was written.
 */
export function openLogFile(
  path: string,
  maxBytes = 10 * 1024 * 1024,
  onLost: (error: unknown) => void = () => {},
): LogFile {
  let handle: number | undefined;
  let isLosing = false;
  let size = 0;

  const open = (): number => {
    makeFolderSync(dirname(path));
    const opened = openSync(path, appendOnly, 0o600);
    size = fstatSync(opened).size;
    return opened;
  };
  const rotate = (): void => {
    if (handle !== undefined) closeSync(handle);
    handle = undefined;
    attempt(() => renameSync(`${path}.1`, `${path}.2`));
    attempt(() => renameSync(path, `${path}.1`));
  };

  return {
    write(line) {
      try {
        handle ??= open();
        if (size >= maxBytes) {
          rotate();
          handle = open();
        }
        const fd = handle;
        size += withPath(path, () => writeSync(fd, line));
        isLosing = false;
      } catch (error) {
        if (!isLosing) onLost(error);
        isLosing = true;
      }
    },
    flush() {
      attempt(() => handle !== undefined && fsyncSync(handle));
    },
  };
}

function attempt(action: () => unknown): void {
  try {
    action();
  } catch {
    // The log itself goes on.
  }
}
