import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { isAlive } from "../../../util/processes/alive.js";

/**
 * Something that tells this process from a later one with the same pid; undefined when no process has this pid,
 * or only one that has ended and that nobody has waited for, as it stays in containers without an init.
 * Linux: the start time in ticks since boot (field 22 of `/proc/<pid>/stat`, see proc(5)); elsewhere what `ps` says.
 */
export function processStart(pid: number): string | undefined {
  if (!isAlive(pid)) return undefined;
  if (process.platform === "linux") {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      // The second field is the program's name in parentheses and may hold anything.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19];
    } catch {
      return undefined;
    }
  }
  try {
    const said = execFileSync("/bin/ps", ["-o", "state=,lstart=", "-p", String(pid)], {
      cwd: "/",
      encoding: "utf8",
      timeout: 5000,
    });
    const [state = "", ...started] = said.trim().split(/\s+/);
    return state.startsWith("Z") ? undefined : started.join(" ") || undefined;
  } catch {
    // Alive, but nothing is known about it: better to take it for the holder than to run twice.
    return "unknown";
  }
}
