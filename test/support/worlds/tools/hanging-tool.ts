import { z } from "zod";
import { defineTool, type Tool } from "../../../../src/tools/tool.js";

/** A tool named `slow` that never ends by itself and listens to no abort. */
export function hangingTool(effect: Tool["effect"], onRun: () => void): Tool {
  return defineTool({
    name: "slow",
    description: "Takes for ever.",
    input: z.object({}),
    effect,
    risk: "none",
    origin: "builtin",
    run() {
      onRun();
      return new Promise(() => {});
    },
  });
}

/** A tool of this name that does something of the test's and says "done". */
export function callingTool(name: string, run: () => Promise<void>): Tool {
  return defineTool({
    name,
    description: "Does something.",
    input: z.object({}),
    effect: "read",
    risk: "none",
    origin: "builtin",
    async run() {
      await run();
      return { text: "done", isError: false, summary: "done" };
    },
  });
}
