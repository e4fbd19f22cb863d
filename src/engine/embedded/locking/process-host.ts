import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { processStart } from "./process-start.js";

/** Where a process runs. Process ids mean the same only where `boot` and `pids` are the same. */
export interface ProcessHost {
  /** The machine's name, or the container's. For people. */
  readonly host: string;
  /** Which run of which kernel; undefined where nobody can tell. */
  readonly boot?: string | undefined;
  /** The namespace of its process ids; undefined where nobody can tell. */
  readonly pids?: string | undefined;
}

/** Where this process runs. */
export function ownHost(): ProcessHost {
  const host = hostname();
  if (process.platform === "linux")
    return {
      host,
      boot: attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim()),
      pids: attempt(linuxPids),
    };
  return {
    host,
    boot: attempt(() =>
      execFileSync("/usr/sbin/sysctl", ["-n", "kern.bootsessionuuid"], { encoding: "utf8", timeout: 5000 }).trim(),
    ),
    pids: "host",
  };
}

/** Whether process ids of one host mean the same on the other. */
export function isSameHost(one: ProcessHost, other: ProcessHost): boolean {
  const isKnown = one.boot !== undefined && one.pids !== undefined;
  return isKnown && one.boot === other.boot && one.pids === other.pids;
}

/** Whether a process of this host still runs. */
export function isRunning({ pid, start }: { readonly pid: number; readonly start: string }): boolean {
  return processStart(pid) === start;
}

/** A `/proc` that another namespace has mounted tells about other processes by our numbers. */
function linuxPids(): string | undefined {
  return readlinkSync("/proc/self") === String(process.pid) ? readlinkSync("/proc/self/ns/pid") : undefined;
}

function attempt(look: () => string | undefined): string | undefined {
  try {
    return look() || undefined;
  } catch {
    return undefined;
  }
}
