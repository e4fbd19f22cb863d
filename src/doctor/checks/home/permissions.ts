import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { findModeProblems } from "../../../config/file-modes.js";
import { findingSentence } from "../../../util/words/finding-sentences.js";
import type { Check, Finding } from "../../check.js";

/** Who else on this machine can look into the home. */
export const permissionsCheck: Check = {
  name: "permissions",
  async run({ home, loaded }) {
    const { path } = loaded;
    const config = path === undefined ? undefined : { path, holdsSecrets: true };
    const problems = await findModeProblems({ home, secrets: join(home, "secrets.json"), config });
    if (problems.length === 0) return [{ level: "ok", found: findingSentence("modes_fine") }];
    return problems.map(toFinding);
  },
};

/** Such a problem ends with the command that mends it. */
function toFinding(problem: string): Finding {
  const [, found = problem, mode = "", path = ""] = /^(.*): chmod (\d{3}) (.+)$/.exec(problem) ?? [];
  if (path === "") return { level: "fail", found: problem };
  const does = `chmod ${mode} ${path}`;
  return { level: "fail", found, todo: does, fix: { does, apply: () => chmod(path, Number.parseInt(mode, 8)) } };
}
