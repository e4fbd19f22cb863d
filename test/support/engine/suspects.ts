import { spawn } from "node:child_process";
import { childFile } from "../project.js";
import { allEvents } from "./engine-crash.js";
import { openIn, titlesOf } from "./engine-kit.js";

const child = childFile("support/engine/children/suspects-child.js");

export interface Life {
  readonly signal: string | null;
  readonly begun: readonly string[];
  readonly buried: readonly string[];
}

/** One life of a process that works on these messages; killed from outside some time after it began, if so asked. */
export function live(
  home: string,
  names: readonly string[],
  how: { readonly suspectMs: number; readonly killAfterMs?: number },
): Promise<Life> {
  const running = spawn(process.execPath, [child, home, String(how.suspectMs), ...names], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  let timer: NodeJS.Timeout | undefined;
  running.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    if (how.killAfterMs !== undefined && output.includes("ready\n"))
      timer ??= setTimeout(() => running.kill("SIGKILL"), how.killAfterMs);
  });
  return new Promise((resolve, reject) => {
    running.once("error", reject);
    running.once("close", (_code, signal) => {
      clearTimeout(timer);
      const said = (what: string): string[] =>
        [...output.matchAll(new RegExp(`^${what} (.+)$`, "gm"))].map((match) => match[1] ?? "");
      resolve({ signal, begun: said("begun"), buried: said("buried") });
    });
  });
}

/** Lives until one ends by itself. */
export async function liveOn(
  home: string,
  names: readonly string[],
  how: { readonly suspectMs: number; readonly mostLives: number },
): Promise<readonly Life[]> {
  const lives: Life[] = [];
  while (lives.length < how.mostLives) {
    const life = await live(home, names, how);
    lives.push(life);
    if (life.signal === null) return lives;
  }
  throw new Error(`It ended none of its ${lives.length} lives by itself`);
}

/** The names of those that have an answer in the log, once for each. */
export async function answeredOf(home: string, names: readonly string[]): Promise<readonly string[]> {
  const { engine } = await openIn(home);
  try {
    const logs = await Promise.all(names.map((name) => allEvents(engine, `telegram:${name}`)));
    return logs.flatMap(titlesOf).map((title) => title.replace("end ", ""));
  } finally {
    await engine[Symbol.asyncDispose]();
  }
}
