import fs from "node:fs";
import { open } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";

/** Says which syncs fail from now on, by the path of the file or folder. */
export interface SyncFailures {
  failsOn: (path: string) => boolean;
}

/**
 * Lets the syncs of this process fail with EIO, as a dying disk does. To be called before anything is imported that
 * keeps `fdatasync` for itself.
 */
export async function failSyncs(): Promise<SyncFailures> {
  const failures: SyncFailures = { failsOn: () => false };
  const { fdatasync, fdatasyncSync, fsyncSync } = fs;
  const failureOf = (fd: number): NodeJS.ErrnoException | undefined => {
    if (!failures.failsOn(fs.readlinkSync(`/proc/self/fd/${fd}`))) return undefined;
    return Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO", syscall: "fdatasync" });
  };
  const orThrow = (fd: number, sync: (fd: number) => void): void => {
    const failure = failureOf(fd);
    if (failure !== undefined) throw failure;
    sync(fd);
  };
  const handle = await open(tmpdir(), "r");
  // The prototype is that of every file handle.
  const prototype = Object.getPrototypeOf(handle) as Pick<typeof handle, "sync" | "datasync">;
  await handle.close();
  const { sync, datasync } = prototype;
  Object.assign(prototype, {
    async sync(this: typeof handle) {
      orThrow(this.fd, () => {});
      await sync.call(this);
    },
    async datasync(this: typeof handle) {
      orThrow(this.fd, () => {});
      await datasync.call(this);
    },
  });
  Object.assign(fs, {
    fdatasync(fd: number, done: (error: Error | null) => void) {
      const failure = failureOf(fd);
      if (failure === undefined) fdatasync(fd, done);
      else setImmediate(() => done(failure));
    },
    fdatasyncSync: (fd: number) => orThrow(fd, fdatasyncSync),
    fsyncSync: (fd: number) => orThrow(fd, fsyncSync),
  });
  syncBuiltinESMExports();
  return failures;
}
