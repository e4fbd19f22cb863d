import { readFileSync } from "node:fs";

/** The control group of a process; undefined where there are none. */
function groupOf(pid: number | "self"): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, "utf8").trim();
  } catch {
    return undefined;
  }
}

/**
 * True when this process would be ended together with the gateway: systemd ends everything that is in the control group of the
 * service that it restarts.
 */
export function endsWith(gatewayPid: number): boolean {
  const own = groupOf("self");
  return own !== undefined && /\.service$/m.test(own) && own === groupOf(gatewayPid);
}

/** The command line that has systemd run another one in a unit of its own, on the manager that runs this service. */
export function inOwnUnit(command: readonly string[], variables: readonly string[]): readonly [string, ...string[]] {
  const isOfUser = /\/user@\d+\.service\//.test(groupOf("self") ?? "");
  const whose = isOfUser ? ["--user"] : [`--uid=${process.getuid?.() ?? 0}`];
  const given = variables.flatMap((name) => ["--setenv", name]);
  return ["systemd-run", ...whose, "--collect", "--quiet", ...given, "--", ...command];
}
