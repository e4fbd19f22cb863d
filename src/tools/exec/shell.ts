import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { runVariable } from "./leash.js";
import { maxTasks } from "./limits.js";
import { argsFd, filterFd } from "./sandbox/sandbox.js";

/** Where the shell tells what it leaves behind, and where it reads what it starts from. */
export const leftFd = 3;
export const startFd = 4;

/**
 * Runs one command as if it was typed into the shell of the last one: its environment and its folder are restored and
 * told afterwards. Nothing of that touches the environment of the sandbox itself, in which it could do harm.
 * When memory is short the system ends it before the gateway.
 * Arguments: folder to start in, folder when that one is gone, command, most processes, largest file in the shell's unit.
 */
const script = `
ulimit -c 0
ulimit -f "$5" 2>/dev/null
{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null
ulimit -u "$4" 2>/dev/null || ulimit -p "$4" 2>/dev/null
__c=$3 __r=$${runVariable}
cd -- "$2"
eval "$(cat <&${startFd})"
[ -z "$__r" ] || export ${runVariable}="$__r"
exec ${startFd}<&- ${argsFd}<&- ${filterFd}<&-
cd -- "$1" || echo "[$1 is gone; this runs in $2]"
set --
trap '__s=$?; trap - EXIT; { pwd -P 2>/dev/null || echo "$PWD"; export -p; } >&${leftFd}; exit $__s' EXIT
eval "$__c"
`;

export interface ShellCommand {
  readonly command: string;
  /** Folder to start in, and the one to take when it is gone. */
  readonly cwd: string;
  readonly home: string;
  /** Only what the command starts counts for its limit; else all processes of the user do. */
  readonly hasOwnProcesses: boolean;
  /** Of one file; 0: none can be written. */
  readonly maxFileBytes: number;
}

export function shellCommand({
  command,
  cwd,
  home,
  hasOwnProcesses,
  maxFileBytes,
}: ShellCommand): [string, ...string[]] {
  const maxProcesses = hasOwnProcesses ? maxTasks : maxTasks + countProcesses();
  const shell = existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh";
  const isBash = shell.endsWith("bash");
  const noProfile = isBash ? ["--noprofile", "--norc"] : [];
  const fileBlocks = Math.ceil(maxFileBytes / (isBash ? 1024 : 512));
  return [shell, ...noProfile, "-c", script, "shell", cwd, home, command, String(maxProcesses), String(fileBlocks)];
}

/** Those of this user, by /proc or, where there is none, by `ps`. */
export function countProcesses(proc = "/proc"): number {
  const own = process.getuid?.();
  try {
    if (existsSync(`${proc}/self`)) {
      const pids = readdirSync(proc).filter((name) => /^\d+$/.test(name));
      return pids.filter((pid) => statSync(`${proc}/${pid}`, { throwIfNoEntry: false })?.uid === own).length;
    }
    const users = execFileSync("/bin/ps", ["-A", "-o", "uid="], { cwd: "/", encoding: "utf8", timeout: 2000 });
    return users.split("\n").filter((line) => line.trim() === String(own)).length;
  } catch {
    // Far more than anybody has.
    return 4096;
  }
}

/** The environment of the first command of a terminal. Nothing of the gateway's own is in it. */
export function firstEnvironment(options: {
  readonly home: string;
  readonly timeZone: string;
}): Record<string, string> {
  const isMac = process.platform === "darwin";
  return {
    PATH: `${isMac ? "/opt/homebrew/bin:" : ""}/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
    HOME: options.home,
    TMPDIR: "/tmp",
    LANG: isMac ? "en_US.UTF-8" : "C.UTF-8",
    TERM: "dumb",
    TZ: options.timeZone,
    PAGER: "cat",
    GIT_TERMINAL_PROMPT: "0",
  };
}

/** What a shell has told on {@link leftFd}; undefined when it told nothing whole. */
export function parseLeft(text: string): { readonly cwd: string; readonly environment: string } | undefined {
  const end = text.indexOf("\n");
  if (end < 1 || !text.startsWith("/")) return undefined;
  return { cwd: text.slice(0, end), environment: text.slice(end + 1) };
}
