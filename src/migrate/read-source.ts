import type { Candidate } from "./detect.js";
import { readOpenclaw } from "./openclaw/read.js";
import { readMaxclaw } from "./read-maxclaw.js";
import { readNanobot } from "./read-nanobot.js";
import type { Source } from "./source.js";

/** Reads an old home. What is broken in it is among the problems; nothing is changed. */
export function readSource({ kind, folder }: Candidate, homedir: string, now: number): Promise<Source> {
  switch (kind) {
    case "maxclaw":
      return readMaxclaw(folder, homedir, now);
    case "nanobot":
      return readNanobot(folder, homedir, now);
    case "openclaw":
      return readOpenclaw(folder, homedir, now);
    default:
      return kind satisfies never;
  }
}
