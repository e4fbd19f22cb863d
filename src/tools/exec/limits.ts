import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { totalmem } from "node:os";
import path from "node:path";
import { sleep } from "../../util/async/sleep.js";
import { codeOf } from "../../util/error-code.js";
import { newId } from "../../util/ids.js";
import { isAlive } from "../../util/processes/alive.js";

/** Of one run: processes and threads, and memory of all of them together. */
export const maxTasks = 512;
const gigabyte = 1024 ** 3;

function maxMemoryBytes(): number {
  return Math.min(4 * gigabyte, Math.floor(totalmem() / 2));
}

/** The control group of one run. */
export interface RunLimits {
  /** Must be called before the process does anything, so that all it starts is counted. */
  enter(pid: number): void;
  /** Resolves when the group is gone; its processes must be dead or dying. */
  remove(): Promise<void>;
}

/** Limits that also bind root, by control groups. */
export interface Limits {
  /** Whether the memory of commands is limited, as far as is known. */
  readonly holdsMemory: boolean;
  /** Undefined where the system does not let us: the shell's own limits are all there is then. */
  open(): RunLimits | undefined;
}

interface Controller {
  /** Where groups can be made. */
  readonly folder: string;
  readonly settings: readonly (readonly [file: string, value: string])[];
  /** Not on every system there, and done without. */
  readonly extras?: readonly (readonly [file: string, value: string])[];
  readonly holdsMemory?: true;
}

const prefix = "maxclaw-run-";

/** Looks once at what the system offers; costs a few small reads. */
export function createLimits(memoryBytes = maxMemoryBytes(), groups = "/sys/fs/cgroup"): Limits {
  const controllers = usable(memoryBytes, groups);
  for (const { folder } of controllers) removeLeftOver(folder);
  let holdsMemory = controllers.some((one) => one.holdsMemory === true);
  return {
    get holdsMemory() {
      return holdsMemory;
    },
    open() {
      const name = `${prefix}${process.pid}-${newId("g")}`;
      const made: string[] = [];
      try {
        for (const { folder, settings, extras = [] } of controllers) {
          const group = path.join(folder, name);
          mkdirSync(group);
          made.push(group);
          for (const [file, value] of settings) writeFileSync(path.join(group, file), value);
          for (const [file, value] of extras) tryWrite(path.join(group, file), value);
        }
      } catch {
        for (const group of made) tryRemove(group);
        holdsMemory = false;
        return undefined;
      }
      if (made.length === 0) return undefined;
      return {
        enter(pid) {
          try {
            for (const group of made) writeFileSync(path.join(group, "cgroup.procs"), String(pid));
          } catch (error) {
            // ESRCH: it has ended already.
            if (codeOf(error) !== "ESRCH") holdsMemory = false;
          }
        },
        async remove() {
          const until = Date.now() + 5000;
          const never = new AbortController().signal;
          for (const group of made) while (!tryRemove(group) && Date.now() < until) await sleep(20, never);
        },
      };
    },
  };
}

function usable(memoryBytes: number, root: string): readonly Controller[] {
  try {
    const own = readFileSync("/proc/self/cgroup", "utf8").split("\n");
    const v1 = (name: string): string | undefined => {
      const line = own.find((one) => one.split(":")[1]?.split(",").includes(name));
      return line === undefined ? undefined : path.join(root, name, line.split(":").slice(2).join(":"));
    };
    const pids = v1("pids");
    const memory = v1("memory");
    const bytes = String(memoryBytes);
    if (pids !== undefined || memory !== undefined) {
      return [
        ...(pids === undefined ? [] : [{ folder: pids, settings: [["pids.max", String(maxTasks)] as const] }]),
        ...(memory === undefined
          ? []
          : [
              {
                folder: memory,
                settings: [["memory.limit_in_bytes", bytes] as const],
                // With what is swapped out.
                extras: [["memory.memsw.limit_in_bytes", bytes] as const],
                holdsMemory: true as const,
              },
            ]),
      ].filter(({ folder }) => canMakeGroups(folder));
    }
    const folder = path.join(root, own.find((one) => one.startsWith("0::"))?.slice(3) ?? "");
    // A group that holds processes itself, as ours does, can only pass on what was switched on by somebody else.
    const passedOn = readFileSync(path.join(folder, "cgroup.subtree_control"), "utf8").split(/\s/);
    const settings = [
      ...(passedOn.includes("pids") ? [["pids.max", String(maxTasks)] as const] : []),
      ...(passedOn.includes("memory") ? [["memory.max", bytes] as const] : []),
    ];
    const isMemory = passedOn.includes("memory")
      ? { extras: [["memory.swap.max", "0"] as const], holdsMemory: true as const }
      : {};
    return settings.length > 0 && canMakeGroups(folder) ? [{ folder, settings, ...isMemory }] : [];
  } catch {
    return [];
  }
}

function canMakeGroups(folder: string): boolean {
  const group = path.join(folder, `${prefix}${process.pid}-0`);
  try {
    mkdirSync(group);
    return tryRemove(group);
  } catch {
    return false;
  }
}

function tryWrite(file: string, value: string): void {
  try {
    if (existsSync(file)) writeFileSync(file, value);
  } catch {
    // The limit without it has to do.
  }
}

/** Of gateways that were killed. */
function removeLeftOver(folder: string): void {
  for (const name of namesIn(folder)) {
    const [, pid] = new RegExp(`^${prefix}(\\d+)-`).exec(name) ?? [];
    if (pid !== undefined && Number(pid) !== process.pid && !isAlive(Number(pid))) tryRemove(path.join(folder, name));
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** A group can be removed once its last process is gone. */
function tryRemove(group: string): boolean {
  try {
    rmdirSync(group);
    return true;
  } catch (error) {
    return codeOf(error) === "ENOENT";
  }
}
