import { execFile } from "node:child_process";
import { linked } from "../util/async/linked.js";

export interface ProgramResult {
  /** Null when a signal or the time limit ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program of the system to its end. */
export type RunProgram = (
  file: string,
  args: readonly string[],
  options?: { readonly limitMs?: number },
) => Promise<ProgramResult | undefined>;

const usualLimitMs = 30_000;

/** Programs of this machine, found in the PATH of `env`. What is not there gives undefined. */
export function createRunProgram(env: Readonly<Record<string, string | undefined>>, signal: AbortSignal): RunProgram {
  return async (file, args, { limitMs = usualLimitMs } = {}) => {
    using scope = linked(signal, limitMs);
    return await new Promise((resolve, reject) => {
      const options = { env: { ...env, LC_ALL: "C" }, signal: scope.signal, killSignal: "SIGKILL" } as const;
      execFile(file, [...args], { ...options, encoding: "utf8" }, (error, stdout, stderr) => {
        if (signal.aborted) return reject(signal.reason);
        if (error?.code === "ENOENT" || error?.code === "EACCES") return resolve(undefined);
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : null;
        const late = scope.signal.aborted ? `${file} did not end within ${limitMs / 1000} s` : "";
        resolve({ code, stdout, stderr: stderr || late });
      });
    });
  };
}
