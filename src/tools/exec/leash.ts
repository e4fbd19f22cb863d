import { spawn } from "node:child_process";

/** The variable by which processes that left their group are found again. */
export const runVariable = "MAXCLAW_RUN";

/**
 * Waits for the end of its input, which comes when the gateway ends in whatever way, and then kills the group and
 * whatever carries the mark of the run, where there is a /proc to look in.
 */
const script = `
read -r group
read -r word
[ "$word" = over ] || [ -z "$group" ] || kill -KILL -- "-$group" 2>/dev/null
grep -lzsx "${runVariable}=$1" /proc/[0-9]*/environ | while IFS=/ read -r _ _ pid _; do kill -KILL "$pid"; done 2>/dev/null
`;

/** Holds what one unconfined command starts, so that nothing of it outlives the gateway. */
export interface Leash {
  /** The process group that the command leads. */
  hold(group: number): void;
  /** Kills what is left of the run. `isOver`: its group is gone already. */
  release(options: { readonly isOver: boolean }): void;
}

/** A process of its own, so that it is there when the gateway is gone. */
export function openLeash(mark: string): Leash {
  const child = spawn("/bin/sh", ["-c", script, "maxclaw-leash", mark], {
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.on("error", () => undefined);
  child.stdin.on("error", () => undefined);
  child.unref();
  return {
    hold: (group) => void child.stdin.write(`${group}\n`),
    release: ({ isOver }) => void child.stdin.end(isOver ? "over\n" : ""),
  };
}
