import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

/** A file system of its own with this much room. */
export function smallDisk(t: TestContext, size: string): string {
  const disk = mountSmallDisk(size);
  t.after(() => disk[Symbol.dispose]());
  return disk.folder;
}

export function mountSmallDisk(size: string): Disposable & { readonly folder: string } {
  const folder = fs.mkdtempSync(join(tmpdir(), "maxclaw-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "maxclaw-test", folder], { stdio: "pipe" });
  return {
    folder,
    [Symbol.dispose]() {
      execFileSync("umount", ["-l", folder]);
      fs.rmdirSync(folder);
    },
  };
}

/** Leaves about this much room. */
export function fillUp(disk: string, leave: number): void {
  const { bavail, bsize } = fs.statfsSync(disk);
  const size = Math.max(0, bavail * bsize - leave);
  try {
    fs.writeFileSync(join(disk, "ballast"), Buffer.alloc(size));
  } catch (error) {
    // Another process has written meanwhile: then the disk is as full as can be.
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
  }
}

export function makeRoom(disk: string): void {
  fs.rmSync(join(disk, "ballast"), { force: true });
}
