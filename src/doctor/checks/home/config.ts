import { isUnmended } from "../../../config/file-modes.js";
import { unusableModels } from "../../../providers/catalogue/find-model.js";
import { findingSentence } from "../../../util/words/finding-sentences.js";
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
          found: findingSentence("no_config"),
          todo: findingSentence("no_config_todo"),
        },
      ];
    const todo =
      unparsable?.advice?.replace(/\.$/, "") ?? findingSentence("correct_file", { path: path ?? "secrets.json" });
    const found = problems
      // Permissions have a check of their own.
      .filter((problem) => !/: chmod \d{3} /.test(problem) || !isUnmended(problem))
      .map((problem): Finding => {
        const switchesOff = off.some(
          ({ section, reason }) => problem.includes(reason) || problem.includes(`${section} is off`),
        );
        return { level: unparsable !== undefined || switchesOff ? "fail" : "warn", found: problem, todo };
      });
    for (const problem of unusableModels(loaded.config)) found.push({ level: "fail", found: problem, todo });
    if (found.length > 0) return found;
    const fine = path === undefined ? findingSentence("config_unnamed_fine") : findingSentence("config_fine", { path });
    return [{ level: "ok", found: fine }];
  },
};
