import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

/** A file system of its own with this much room. */
export function smallDisk(t: TestContext, size: string): string {
  const folder = fs.mkdtempSync(join(tmpdir(), "maxclaw-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "maxclaw-test", folder], { stdio: "pipe" });
  t.after(() => {
    execFileSync("umount", ["-l", folder]);
    fs.rmdirSync(folder);
  });
  return folder;
}

/** Leaves about this much room. */
export function fillUp(disk: string, leave: number): void {
  const { bavail, bsize } = fs.statfsSync(disk);
  const size = Math.max(0, bavail * bsize - leave);
  fs.writeFileSync(join(disk, "ballast"), Buffer.alloc(size));
}
