import { isUnmended } from "../../../config/file-modes.js";
import type { Check, Finding } from "../../check.js";

/** What is wrong in the config file and in secrets.json. */
export const configCheck: Check = {
  name: "config",
  async run({ loaded }) {
    const { path, unparsable, problems, off } = loaded;
    if (path === undefined && problems.length === 0)
      return [
        {
          level: "warn",
          found: "There is no config file: defaults are in force",
          todo: "Write one with: maxclaw onboard",
        },
      ];
    const todo = unparsable?.advice?.replace(/\.$/, "") ?? `Correct ${path ?? "secrets.json"}`;
    const found = problems
      // Permissions have a check of their own.
      .filter((problem) => !/: chmod \d{3} /.test(problem) || !isUnmended(problem))
      .map((problem): Finding => {
        const switchesOff = off.some(
          ({ section, reason }) => problem.includes(reason) || problem.includes(`${section} is off`),
        );
        return { level: unparsable !== undefined || switchesOff ? "fail" : "warn", found: problem, todo };
      });
    return found.length > 0 ? found : [{ level: "ok", found: `${path ?? "The config"} has no mistakes` }];
  },
};
