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
      return [
        { level: "warn", found: "The sandbox for commands is switched off", todo: 'Set tools.exec.sandbox to "auto"' },
      ];
    const tried = await trySandbox(signal);
    if ("name" in tried) return [{ level: "ok", found: `Commands run in a sandbox (${tried.name})` }];
    const level = mode === "required" ? "fail" : "warn";
    return [
      {
        level,
        found: `Commands have no sandbox: ${tried.reason}`,
        todo: "docs/sandbox.md says what each system needs",
      },
    ];
  },
};
