import { findingSentence } from "../../../util/words/finding-sentences.js";
import type { Check } from "../../check.js";
import { trySandbox } from "../../tool-programs.js";

/** Commands of the model run in a sandbox that holds. */
export const sandboxCheck: Check = {
  name: "sandbox",
  isLive: true,
  limitMs: 30_000,
  async run({ loaded }, signal) {
    const { sandbox: mode } = loaded.config.tools.exec;
    if (mode === "off")
      return [{ level: "warn", found: findingSentence("sandbox_off"), todo: findingSentence("sandbox_off_todo") }];
    const tried = await trySandbox(signal);
    if ("name" in tried) return [{ level: "ok", found: findingSentence("sandbox_fine", { name: tried.name }) }];
    const level = mode === "required" ? "fail" : "warn";
    return [
      {
        level,
        found: findingSentence("sandbox_none", { reason: tried.reason }),
        todo: findingSentence("sandbox_todo"),
      },
    ];
  },
};
