import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Programs of the system that write down how they were called, in a folder for the front of a PATH. */
export interface FakePrograms {
  readonly folder: string;
  /** `answers` is a script of sh with the arguments in `$*`; default: it ends well and says nothing. */
  add(name: string, answers?: string): void;
  /** Each call as one line, the program's name first. */
  calls(): readonly string[];
}

export function makeFakePrograms(): FakePrograms {
  const folder = join(mkdtempSync(join(tmpdir(), "maxclaw-programs-")), "bin");
  mkdirSync(folder);
  const record = join(folder, "calls");
  return {
    folder,
    add(name, answers = "exit 0") {
      const path = join(folder, name);
      writeFileSync(path, `#!/bin/sh\necho "${name} $*" >> "${record}"\n${answers}\n`);
      chmodSync(path, 0o755);
    },
    calls: () => (existsSync(record) ? readFileSync(record, "utf8").trim().split("\n") : []),
  };
}
