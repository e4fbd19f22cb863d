import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where a system keeps a Chromium or Chrome. */
const browsers = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** For a browser on a machine that tests share: nothing of its own, and no sandbox where a container has none to give. */
export const browserArgs: readonly string[] = ["--no-sandbox"];

export function findChromium(): string | undefined {
  return browsers.find((path) => existsSync(path));
}

/** Chromium without all that belongs to windows. */
export function findChromiumShell(): string | undefined {
  return ["/usr/bin/chromium-headless-shell"].find((path) => existsSync(path));
}

/** For a test's `skip`: why it cannot run on this machine. In CI a skipped test fails the run. */
export function withoutChromium(): string | false {
  return findChromium() === undefined && "needs Chromium or Chrome";
}

/** Debian keeps it where only administrators look. */
export function findNginx(): string | undefined {
  return ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/bin/nginx", "/opt/homebrew/bin/nginx"].find((path) =>
    existsSync(path),
  );
}

/** For the `skip` of a test with a real proxy in front of the gateway. */
export function withoutNginx(): string | false {
  return findNginx() === undefined && "needs nginx";
}

/** For the `skip` of a test that fills a disk of its own. */
export function withoutSmallDisk(): string | false {
  const folder = mkdtempSync(join(tmpdir(), "maxclaw-mount-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "maxclaw-test", folder], { stdio: "pipe" });
    execFileSync("umount", ["-l", folder], { stdio: "pipe" });
    return false;
  } catch {
    return "needs the right to mount a tmpfs, as root on Linux has it";
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** For the `skip` of a test that runs commands in a sandbox. */
export function withoutSandbox(): string | false {
  try {
    const namespaces = ["--unshare-user", "--unshare-pid", "--unshare-net"];
    const places = ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"];
    execFileSync("bwrap", [...namespaces, ...places, "true"], { stdio: "pipe" });
    return false;
  } catch (error) {
    const said = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
    return `needs bubblewrap and namespaces: ${said || "bwrap cannot be started"}`;
  }
}

/** For the `skip` of a test that looks at its own open files. */
export function withoutProc(): string | false {
  return !existsSync("/proc/self/fd") && "needs /proc";
}

/** For the `skip` of a test that starts a Python program. */
export function withoutPython(): string | false {
  try {
    execFileSync("python3", ["-c", "import json"], { stdio: "pipe" });
    return false;
  } catch {
    return "needs python3";
  }
}

/** For the `skip` of a test that runs a program of the system. */
export function withoutProgram(name: string, how = "--version"): string | false {
  try {
    execFileSync(name, [how], { stdio: "pipe" });
    return false;
  } catch {
    return `needs ${name}`;
  }
}
