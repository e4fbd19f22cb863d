import { constants, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { problemSentence } from "../util/words/problem-sentences.js";

const readable = 0o044;
const writable = 0o022;
const enterable = 0o011;

/**
 * What other users of this machine could do with the home, its secrets and the config, each as a problem with the command
 * that ends it. A config without keys may be read, and in a folder that is closed to others it needs no mode of its own.
 */
export async function findModeProblems(files: {
  readonly home: string;
  readonly secrets: string;
  readonly config?: { readonly path: string; readonly holdsSecrets: boolean } | undefined;
}): Promise<readonly string[]> {
  const problems: string[] = [];
  const [home, secrets] = await Promise.all([modeOf(files.home), modeOf(files.secrets)]);
  if ((home & constants.S_IFMT) === constants.S_IFREG)
    return [`${files.home} cannot be used: it is a file, not a folder. Move it away.`];
  if ((home & writable) !== 0)
    problems.push(withMode(problemSentence("home_changeable", { folder: files.home }), 700, files.home));
  else if ((home & 0o077) !== 0)
    problems.push(withMode(problemSentence("home_readable", { folder: files.home }), 700, files.home));
  if ((secrets & 0o077) !== 0)
    problems.push(withMode(problemSentence("file_readable", { path: files.secrets }), 600, files.secrets));
  if (files.config === undefined) return problems;
  const { path, holdsSecrets } = files.config;
  const [config, around] = await Promise.all([modeOf(path), modeOf(dirname(path))]);
  const isReadable = holdsSecrets && (config & readable) !== 0;
  const code = (config & writable) !== 0 ? "file_changeable" : isReadable ? "file_readable" : undefined;
  if (code === undefined || (around & enterable) === 0) return problems;
  return [...problems, withMode(problemSentence(code, { path }), 600, path)];
}

function withMode(what: string, mode: number, path: string): string {
  return problemSentence("mode_todo", { what, mode, path });
}

/** False once the command that such a problem ends with was run; true for any other problem. */
export function isUnmended(problem: string): boolean {
  const [, mode = "", path = ""] = /: chmod (\d{3}) (.+)$/.exec(problem) ?? [];
  if (path === "") return true;
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && (stats.mode & 0o777 & ~Number.parseInt(mode, 8)) !== 0;
}

/** 0 where there is no such file, or no modes of this kind. */
async function modeOf(path: string): Promise<number> {
  if (process.platform === "win32") return 0;
  return (await stat(path).catch(() => undefined))?.mode ?? 0;
}
