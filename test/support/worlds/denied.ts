import { execFile } from "node:child_process";
import { userInfo } from "node:os";
import { programFile } from "../project.js";
import type { CliResult } from "./cli.js";

interface DeniedOptions {
  /** Folders that this run can only read, as on a disk that is mounted read-only. */
  readonly readOnly?: readonly string[];
  /** Runs as an account without rights, where this one has all of them. */
  readonly isPlain?: boolean;
  readonly cwd?: string;
}

const nobody = 65_534;

/** Runs a command of the real program to its end where the system refuses it something, 30 s at most. */
export function runDenied(args: readonly string[], home: string, options: DeniedOptions = {}): Promise<CliResult> {
  const { readOnly = [], isPlain = false, cwd } = options;
  const program = [process.execPath, programFile(), ...args];
  const places = readOnly.flatMap((folder) => ["--ro-bind", folder, folder]);
  const wall = ["bwrap", "--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc", ...places];
  const [file = "", ...rest] = readOnly.length === 0 ? program : [...wall, ...program];
  const account = isPlain && userInfo().uid === 0 ? { uid: nobody, gid: nobody } : {};
  const env = { PATH: process.env.PATH ?? "", HOME: home, MAXCLAW_HOME: home, NO_COLOR: "1" };
  return new Promise((resolve) => {
    const child = execFile(file, rest, { env, cwd, timeout: 30_000, ...account }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : null;
      resolve({ code, stdout, stderr });
    });
    child.stdin?.end();
  });
}
