import { spawn } from "node:child_process";
import { statfsSync } from "node:fs";

/** `unknown`: there is no `flock` program, or the file system has no locks. */
export type KernelAnswer = "free" | "busy" | "unknown";

const limitMs = 5000;

/** What `statfs` calls file systems that other kernels may use at the same time (linux/magic.h, and each one's own). */
const sharedTypes: ReadonlySet<number> = new Set([
  0x6969, // NFS
  0x517b, // SMB
  0xff534d42, // CIFS
  0xfe534d42, // SMB2
  0x01021997, // 9p, as WSL and virtual machines use it
  0x65735546, // FUSE: sshfs, virtiofs, what Docker Desktop mounts
  0x5346414f, // AFS
  0x6b414653, // AFS in the kernel
  0x00c36400, // Ceph
  0x0bd00bd0, // Lustre
  0x01161970, // GFS2
  0x7461636f, // OCFS2
  0x786f4256, // VirtualBox shared folders
  0xbacbacbc, // VMware shared folders
  0x7c7c6673, // Parallels shared folders
  0x47504653, // GPFS
  0x19830326, // BeeGFS
]);

/**
 * Locks the open file with flock(2), or looks whether somebody has: `shared` locks keep each other out of nothing. Node
 * has no call for it, but such a lock belongs to the open file and not to the process: the `flock` program of util-linux
 * or BusyBox sets it on the descriptor it inherits, and it holds until all copies of that descriptor are closed.
 */
export function flock(fd: number, kind: "exclusive" | "shared"): Promise<KernelAnswer> {
  return new Promise((resolve) => {
    const args = ["-n", kind === "exclusive" ? "-x" : "-s", "3"];
    const child = spawn("flock", args, { stdio: ["ignore", "ignore", "pipe", fd], timeout: limitMs, cwd: "/" });
    let said = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    child.on("error", () => resolve("unknown"));
    // A failure has words; that the lock is taken has none.
    child.on("close", (code) => resolve(code === 0 ? "free" : code === 1 && said === "" ? "busy" : "unknown"));
  });
}

/** Whether kernels of several machines, or of virtual machines, may have this file open: flock may hold on one of them only. */
export function isShared(path: string): boolean {
  if (process.platform !== "linux") return true;
  try {
    return sharedTypes.has(statfsSync(path).type);
  } catch {
    return true;
  }
}
