import { appendFileSync } from "node:fs";
import { z } from "zod";
import { defineTool, type Tool } from "../../../src/tools/tool.js";

/** One line of the file in which the tools count their runs. */
export interface ToolRun {
  readonly callId: string;
  readonly effect: Tool["effect"];
  readonly life: number;
  /** `begun` is before the effect, `done` after it. */
  readonly phase: "begun" | "done";
}

/** Tools of each effect that write down every run, in a file that survives the process. */
export function countingTools(runsPath: string, life: number, passed: (point: string) => void): readonly Tool[] {
  const count = (name: string, effect: Tool["effect"], between: () => void) =>
    defineTool({
      name,
      description: `Counts (${effect}).`,
      input: z.object({}),
      effect,
      risk: "none",
      origin: "builtin",
      async run(_input, { call: { toolCallId: callId } }) {
        const tell = (phase: ToolRun["phase"]): void => {
          const line: ToolRun = { callId, effect, life, phase };
          appendFileSync(runsPath, `${JSON.stringify(line)}\n`);
          passed(`tool ${effect}: ${phase}`);
        };
        tell("begun");
        // A tool takes more than one turn of the event loop.
        await new Promise((resolve) => setImmediate(resolve));
        between();
        tell("done");
        return { text: `${callId} is counted`, isError: false, summary: "counted" };
      },
    });
  const nothing = (): void => {};
  return [
    count("count_read", "read", nothing),
    count("count_again", "idempotent", nothing),
    count("count_write", "write", nothing),
    count("die", "idempotent", () => process.kill(process.pid, "SIGKILL")),
  ];
}

export const toolPoints: readonly string[] = ["read", "idempotent", "write"].flatMap((effect) => [
  `tool ${effect}: begun`,
  `tool ${effect}: done`,
]);
